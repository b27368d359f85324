/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bars.js - rows of stacked bars: time of processes, late arrivals, runs.
 */
const BARS_MAX = 24;

/*
 * rows: { name, parts: [amount], total: text, dots: [[amount, text]], line: amount }; parts: { name, colour }; all: rows that
 * there are. Names stand at the side if they are short, else above their bars.
 */
function barChart(figure, rows, parts, format, label, all) {
	const shown = rows.slice(0, BARS_MAX), RIGHT = 74, longest = Math.max(...shown.map(r => r.name.length), 0);
	const most = Math.max(...shown.map(r => Math.max(r.parts.reduce((a, b) => a + b, 0), ...(r.dots || []).map(d => d[0]))), 0) || 1;
	const svg = draw(figure, "svg", { role: "img", "aria-label": label });

	onResize(figure, () => {
		const width = Math.max(figure.clientWidth, 200), isBeside = longest * 6.6 < width / 4;
		const left = isBeside ? Math.ceil(longest * 6.6) + 10 : 0, top = isBeside ? 3 : 16, LINE = top + 18;
		const plot = width - left - RIGHT, x = v => left + v / most * plot;

		svg.replaceChildren();
		fill(svg, { width, height: shown.length * LINE + 4, viewBox: `0 0 ${width} ${shown.length * LINE + 4}` });
		shown.forEach((row, i) => {
			let at = 0;

			draw(svg, "text", { x: 0, y: i * LINE + (isBeside ? top + 11 : 12) }, clip(row.name, Math.floor(width / 6.6)));
			draw(svg, "rect", { class: "frame", x: left, y: i * LINE + top, width: plot, height: 14 });
			row.parts.forEach((amount, p) => {
				if (amount > 0) {
					const bar = draw(svg, "rect", { class: `area ${row.colour || parts[p].colour}`, x: x(at), y: i * LINE + top, width: Math.max(x(amount) - left, 0.5), height: 14 });

					bar.addEventListener("pointermove", event => showTip(event.clientX, event.clientY,
						[row.name, `${parts[p].name}: ${format(amount)}`]));
					bar.addEventListener("pointerleave", hideTip);
				}
				at += amount;
			});
			if (row.line !== undefined)
				draw(svg, "path", { class: "axis", d: `M${Math.round(x(row.line)) + 0.5} ${i * LINE + top - 2}v18` });
			for (const [amount, text] of row.dots || []) {
				const dot = draw(svg, "circle", { class: `dot ${row.colour}`, cx: x(amount), cy: i * LINE + top + 7, r: 5 });

				draw(dot, "title", {}, text);
			}
			draw(svg, "text", { class: "weak", x: (row.dots && row.dots.length ? left + plot : Math.min(x(at || row.line || 0), left + plot)) + 8, y: i * LINE + top + 11 }, row.total);
		});
	});
	if ((all || rows.length) > shown.length)
		put(figure, "p", { class: "small" }, `... and ${(all || rows.length) - shown.length} more`);
}

charts.times = function (figure, run) {
	const colours = ["c0", "c3", "c5", "c6", "c7"];
	const parts = run.parts.map((name, i) => ({ name, colour: colours[i] }));

	legend(figure, parts.map(p => [p.colour, p.name]));
	barChart(figure, run.times.map(t => ({ name: t.name, parts: t.ns, total: time(t.ns.reduce((a, b) => a + b, 0)) })), parts, time,
		"Time of each process: " + run.parts.join(", "), run.processes);
};

charts.late = function (figure, run) {
	const rows = run.late.filter(r => r.caused).sort((a, b) => b.caused - a.caused);

	if (!rows.length)
		return void put(figure, "p", { class: "small" }, "No rank waited for another one.");
	barChart(figure, rows.map(r => ({ name: `rank ${r.rank}`, parts: [r.caused], total: time(r.caused) })),
		[{ name: "others waited", colour: "c5" }], time, "Time that others waited for each rank");
};

charts.spent = function (figure) {
	const parts = DATA.classes.map((name, i) => ({ name, colour: "c" + i })).concat([{ name: "waiting for the order of others", colour: "h3" }]);
	const used = parts.filter((_, i) => DATA.runs.some(run => run.spent[i]));

	legend(figure, used.map(p => [p.colour, p.name]));
	barChart(figure, DATA.runs.map(run => ({ name: run.name, parts: run.spent, total: time(run.spent.reduce((a, b) => a + b, 0)) })),
		parts, time, "Time in operations of each run, by class");
};

/* Runs of the same kind, in the same place, at the same pace, are repetitions. */
charts.runs = function (figure) {
	const groups = new Map();

	for (const run of DATA.runs) {
		const key = [run.is_replay ? "replay" : "original", run.place, run.pace].join("\n");

		groups.set(key, (groups.get(key) || []).concat([run]));
	}
	const rows = [...groups.values()].map(runs => {
		const sorted = runs.map(r => r.seconds).sort((a, b) => a - b), n = sorted.length;
		const median = (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2, first = runs[0];

		return {
			name: `${first.is_replay ? "replay" : "original"} on ${first.place}` + (first.pace ? `, pace ${first.pace}` : "") + (n > 1 ? ` (${n} runs)` : `: ${first.name}`),
			parts: [median], colour: first.is_replay ? "c1" : "c0", line: median, total: median.toFixed(3) + " s",
			dots: n > 1 ? runs.map(r => [r.seconds, `${r.name}: ${r.seconds.toFixed(3)} s`]) : [],
		};
	});

	barChart(figure, rows, [{ name: "median" }], s => s.toFixed(3) + " s", "Duration of each run");
	legend(figure, [["c0", "original"], ["c1", "replay"]]);
};
