/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * heat.js - rows of the timeline by time: bytes, or the share of time in operations.
 */
charts.heat = function (figure, run) {
	const LEVELS = 7, rows = rowsOf(run), tools = put(figure, "div", { class: "tools", role: "radiogroup", "aria-label": "Quantity" });
	const metrics = {
		bytes: { name: "bytes moved", value: (lane, a, b) => sumOf(lane.bytes, a, b), text: (v, ns) => `${bytes(v)} in ${time(ns)}` },
		time: { name: "share of time in operations", value(lane, a, b) {
			let sum = 0;

			for (let i = a; i < b; i++)
				sum += cellOf(lane, i).share;
			return sum / (b - a) / DATA.share_levels;
		}, text: v => `about ${Math.round(100 * v)} % of the time` },
	};
	let metric = run.lanes.some(lane => lane.bytes.some(n => n)) ? "bytes" : "time", frame, most = 0;

	for (const name in metrics) {
		const label = put(tools, "label");
		const input = put(label, "input", { type: "radio", name: "heat-" + DATA.runs.indexOf(run), value: name });

		input.checked = name === metric;
		label.appendChild(document.createTextNode(" " + metrics[name].name));
		input.addEventListener("change", () => { metric = name; viewOf(run).redraws.forEach(redraw => redraw()); });
	}
	const scale = put(figure, "div", { class: "legend" });

	function drawScale(ns) {
		scale.replaceChildren();
		if (!most)
			return;
		put(scale, "span", {}, "more than 0");
		const bar = draw(scale, "svg", { width: LEVELS * 18, height: 14, role: "presentation" });
		for (let level = 1; level <= LEVELS; level++)
			draw(bar, "rect", { class: "area h" + level, x: (level - 1) * 18, y: 1, width: 17, height: 12 });
		put(scale, "span", {}, "up to " + metrics[metric].text(most, ns));
	}

	timeChart(figure, run, {
		label: `Heat map of ${rows.count} rows by time`,
		left: rows.left,
		height: () => rows.count * rows.height,
		rows: () => rows.count,
		rowAt: rows.at,
		rowY: row => (row + 0.5) * rows.height,
		draw(svg, body, f) {
			const groups = groupsOf(f, run.width, DATA.bins, 5), paths = Array(LEVELS + 1).fill("");
			const values = run.lanes.map(lane => groups.map(g => metrics[metric].value(lane, g[0], g[1])));

			frame = f;
			most = Math.max(...values.map(row => Math.max(...row, 0)), 0);
			values.forEach((row, i) => row.forEach((value, k) => {
				const x = f.x(groups[k][0] * run.width), w = f.x(groups[k][1] * run.width) - x;

				if (value > 0)
					paths[Math.max(1, Math.ceil(LEVELS * Math.sqrt(value / most)))] +=
						`M${x.toFixed(1)} ${i * rows.height}h${w.toFixed(1)}v${rows.height - (rows.height > 9 ? 1 : 0)}h${-w.toFixed(1)}z`;
			}));
			paths.forEach((d, level) => d && draw(body, "path", { class: "area h" + level, d }));
			rows.names(svg, f);
			drawScale(groups.length ? (groups[0][1] - groups[0][0]) * run.width : 0);
		},
		describe(ns, row) {
			const g = groupsOf(frame, run.width, DATA.bins, 5).find(([a, b]) => ns >= a * run.width && ns <= b * run.width);

			if (!g)
				return [];
			return [`${run.lanes[row].name}, ${instant(g[0] * run.width, run.end)} to ${instant(g[1] * run.width, run.end)}`,
				metrics[metric].text(metrics[metric].value(run.lanes[row], g[0], g[1]), (g[1] - g[0]) * run.width)];
		},
	});
	figure.appendChild(scale);
};
