/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * series.js - bandwidth and operations over time.
 */
charts.series = function (figure, run) {
	const BAND = 130, GAP = 26, RATE = 90, used = DATA.classes.map((_, c) => run.started[c].some(n => n));
	const hasTouched = run.touched.some(n => n);
	let frame;

	legend(figure, [["c0", "read"], ["c1", "written"]].concat(hasTouched ? [["c4", "accessed in mappings"]] : []));

	function bandwidth(svg, body, groups) {
		const rate = (values, g) => sumOf(values, g[0], g[1]) / ((g[1] - g[0]) * run.width) * 1e9;
		const read = groups.map(g => rate(run.read, g)), touched = groups.map(g => rate(run.touched, g));
		const written = groups.map(g => rate(run.written, g));
		const up = Math.max(...read.map((r, i) => r + touched[i]), 0), down = Math.max(...written, 0);
		const all = up + down || 1, zero = 8 + (BAND - 16) * (up + down ? up / all : 0.5), size = (BAND - 16) / all;
		const paths = ["", "", ""];

		groups.forEach((g, i) => {
			const x = frame.x(g[0] * run.width), w = frame.x(g[1] * run.width) - x;
			const bar = (n, y, h) => { if (h > 0) paths[n] += `M${x} ${y}h${w}v${h}h${-w}z`; };

			bar(0, zero - read[i] * size, read[i] * size);
			bar(1, zero, written[i] * size);
			bar(2, zero - (read[i] + touched[i]) * size, touched[i] * size);
		});
		["c0", "c1", "c4"].forEach((c, n) => draw(body, "path", { class: "area " + c, d: paths[n] }));
		const label = v => v ? bytes(Math.abs(v)) + "/s" : "0";
		const count = side => Math.max(1, Math.round(4 * side / all));

		sideAxis(svg, frame.left, frame.plot, v => zero - v * size, ticks(0, up, count(up), 1024), label);
		sideAxis(svg, frame.left, frame.plot, v => zero + v * size,
			ticks(0, down, count(down), 1024).filter(v => v), label);
	}

	function rates(svg, body, groups) {
		const top = BAND + GAP, sums = groups.map(g => run.started.map(values => sumOf(values, g[0], g[1]) /
			((g[1] - g[0]) * run.width) * 1e9));
		const most = Math.max(...sums.map(s => s.reduce((a, b) => a + b, 0)), 0) || 1;
		const paths = DATA.classes.map(() => "");

		groups.forEach((g, i) => {
			const x = frame.x(g[0] * run.width), w = frame.x(g[1] * run.width) - x;
			let y = top + RATE;

			sums[i].forEach((rate, c) => {
				const h = rate / most * (RATE - 6);

				if (h > 0)
					paths[c] += `M${x} ${y}h${w}v${-h}h${-w}z`;
				y -= h;
			});
		});
		paths.forEach((d, c) => draw(body, "path", { class: "area c" + c, d }));
		sideAxis(svg, frame.left, frame.plot, v => top + RATE - v / most * (RATE - 6), ticks(0, most, 3), v => number(v) + "/s");
	}

	timeChart(figure, run, {
		label: "Bandwidth and operations per second over time",
		left: () => 74,
		height: () => BAND + GAP + RATE,
		draw(svg, body, f) {
			frame = f;
			draw(svg, "rect", { x: f.left - 1, y: BAND, width: f.plot + 2, height: GAP, fill: "var(--back)" });
			const groups = groupsOf(f, run.width, DATA.bins, 3);
			bandwidth(svg, body, groups);
			rates(svg, body, groups);
			draw(svg, "text", { class: "weak", x: f.left, y: BAND + GAP - 7 }, "operations per second");
		},
		describe(ns) {
			const groups = groupsOf(frame, run.width, DATA.bins, 3);
			const g = groups.find(([a, b]) => ns >= a * run.width && ns <= b * run.width);

			if (!g)
				return [];
			const seconds = (g[1] - g[0]) * run.width / 1e9, rate = v => bytes(sumOf(v, g[0], g[1]) / seconds) + "/s";
			const counts = DATA.classes.map((name, c) => [name, sumOf(run.started[c], g[0], g[1])]).filter(c => c[1]);
			const lines = [`${instant(g[0] * run.width, run.end)} to ${instant(g[1] * run.width, run.end)}`,
				`read ${rate(run.read)}, written ${rate(run.written)}` + (hasTouched ? `, in mappings ${rate(run.touched)}` : "")];

			return lines.concat(counts.length ? [counts.map(c => `${number(c[1])} ${c[0]}`).join(", ")] : ["no operation began"]);
		},
	});
	legend(figure, DATA.classes.map((name, c) => ["c" + c, name]).filter((_, c) => used[c]));
};
