/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * curves.js - distributions of latencies: share of the operations that took no longer, by time on a logarithmic axis.
 */

/* The share of operations that took at most `ns`, between the known percentiles. */
function shareAt(curve, ns) {
	const values = curve.ns, last = values.length - 1;
	let i = 0;

	if (ns < values[0])
		return 0;
	while (i < last && values[i + 1] <= ns)
		i++;
	if (i === last)
		return 100;
	const [a, b] = [Math.log(Math.max(values[i], 1)), Math.log(Math.max(values[i + 1], 1))];
	const part = b > a ? (Math.log(Math.max(ns, 1)) - a) / (b - a) : 1;

	return DATA.percents[i] + Math.min(1, part) * (DATA.percents[i + 1] - DATA.percents[i]);
}

/* curves: { name, colour, isDashed, ns } */
function curveChart(parent, curves, height, label) {
	const LEFT = 44, RIGHT = 10;
	const svg = draw(parent, "svg", { class: "time", tabindex: "0", role: "group", "aria-roledescription": "chart", "aria-label": label });
	const least = Math.log10(Math.max(Math.min(...curves.map(c => c.ns[0])), 100) * 0.8);
	const most = Math.max(Math.log10(Math.max(...curves.map(c => c.ns[c.ns.length - 1]), 1000) * 1.2), least + 0.5);
	let width, plot, overlay, at = (least + most) / 2;
	const x = log => LEFT + (log - least) / (most - least) * plot, y = percent => 6 + (1 - percent / 100) * (height - 6);

	function redraw() {
		width = Math.max(parent.clientWidth, 200);
		plot = width - LEFT - RIGHT;
		svg.replaceChildren();
		fill(svg, { width, height: height + 22, viewBox: `0 0 ${width} ${height + 22}` });
		draw(svg, "rect", { class: "frame", x: LEFT, y: 0, width: plot, height });
		sideAxis(svg, LEFT, plot, y, [0, 25, 50, 75, 100], v => v + " %");
		const every = Math.ceil((most - least) / Math.max(plot / 60, 1));
		for (let power = Math.ceil(least); power <= most; power++) {
			draw(svg, "path", { class: "grid", d: `M${Math.round(x(power)) + 0.5} 0V${height + 4}` });
			if ((power - Math.ceil(least)) % every === 0)
				draw(svg, "text", { class: "weak", x: Math.min(x(power), width - 20), y: height + 16, "text-anchor": "middle" },
					time(10 ** power).replace(".00", "").replace(".0", ""));
		}
		for (const curve of curves) {
			const points = curve.ns.map((ns, i) => `${x(Math.log10(Math.max(ns, 10 ** least))).toFixed(1)} ${y(DATA.percents[i]).toFixed(1)}`);

			draw(svg, "path", { class: "curve " + curve.colour, d: "M" + points.join("L"),
				"stroke-dasharray": curve.isDashed ? "5 3" : "none" });
		}
		overlay = draw(svg, "g");
	}

	function show(log, clientX, clientY) {
		const ns = 10 ** log;

		at = log;
		overlay.replaceChildren();
		draw(overlay, "path", { class: "cursor", d: `M${x(log)} 0V${height}` });
		showTip(clientX, clientY, [`at most ${time(ns)}:`].concat(curves.map(c => `${c.name}: ${shareAt(c, ns).toFixed(1)} %`)));
	}

	svg.addEventListener("pointermove", event => {
		const place = (event.clientX - svg.getBoundingClientRect().left - LEFT) / plot;

		show(least + Math.max(0, Math.min(1, place)) * (most - least), event.clientX, event.clientY);
	});
	svg.addEventListener("keydown", event => {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], box = svg.getBoundingClientRect();

		if (!step)
			return;
		event.preventDefault();
		at = Math.max(least, Math.min(most, at + step * (most - least) / 60));
		show(at, box.left + x(at), box.top + height / 2);
	});
	for (const name of ["pointerleave", "blur"])
		svg.addEventListener(name, () => { overlay.replaceChildren(); hideTip(); });
	onResize(parent, redraw);
}

charts.latencies = function (figure, run) {
	const curves = run.latencies.map((l, i) => ({ name: l.kind, count: l.count, colour: "c" + i % 8, isDashed: i % 2 === 1, ns: l.ns }));

	if (!curves.length)
		return void put(figure, "p", { class: "small" }, "The trace has no durations.");
	curveChart(figure, curves, 230, "Distribution of latencies by operation");
	legend(figure, curves.map(c => [c.colour, `${c.name} (${number(c.count)})`, "stroke" + (c.isDashed ? " dashed" : "")]));
};

/* The same operation in several runs. */
charts.overlay = function (figure) {
	const runs = DATA.runs, grid = put(figure, "div", { class: "tiled" });

	for (const { kind } of runs[0].latencies.slice(0, 4)) {
		const curves = [];

		runs.forEach((run, i) => {
			const found = run.latencies.find(l => l.kind === kind);

			if (found)
				curves.push({ name: run.name, colour: "c" + i % 8, isDashed: run.is_replay, ns: found.ns });
		});
		const box = put(grid, "div");

		put(box, "h4", {}, kind);
		curveChart(box, curves, 150, `Distribution of latencies of ${kind} in each run`);
	}
	legend(figure, runs.map((run, i) => ["c" + i % 8, run.name + (run.is_replay ? " (replay)" : ""), "stroke" + (run.is_replay ? " dashed" : "")]));
};
