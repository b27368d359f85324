/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline.js - a row for each rank or task: operations one by one, and the share of time in all of them.
 */
const OP = { lane: 0, begin: 1, duration: 2, kind: 3, path: 4, result: 5 };

/* Rows of equal height, with names at the left as far as there is room. */
function rowsOf(run) {
	const count = run.lanes.length, height = count <= 12 ? 24 : count <= 32 ? 16 : count <= 64 ? 9 : 6;
	const every = Math.ceil(12 / height), longest = Math.max(...run.lanes.map(l => l.name.length), 4);

	return {
		count, height,
		left: width => Math.max(50, Math.min(Math.floor(longest * 6.3) + 12, Math.floor(width * (width < 600 ? 0.26 : 0.2)))),
		at: y => Math.max(0, Math.min(count - 1, Math.floor(y / height))),
		names(svg, frame) {
			run.lanes.forEach((lane, i) => {
				if (i % every === 0)
					draw(svg, "text", { class: "weak", x: frame.left - 6, y: i * height + Math.min(height, 14) / 2 + 4 + (height > 14 ? (height - 14) / 2 : 0),
						"text-anchor": "end" }, clip(lane.name, Math.floor((frame.left - 8) / 6)));
				if (i && height > 9)
					draw(svg, "path", { class: "grid", d: `M${frame.left} ${i * height + 0.5}h${frame.plot}` });
			});
		},
	};
}

function resultOf(op) {
	const [name] = DATA.kinds[op[OP.kind]], result = op[OP.result];

	return result < 0 ? `failed (${result})` : name === "read" || name === "write" || name.includes("range") ? bytes(result) : "";
}

function opLines(run, op) {
	const path = op[OP.path] >= 0 ? run.paths[op[OP.path]] : "";

	return [`${run.lanes[op[OP.lane]].name}: ${DATA.kinds[op[OP.kind]][0]} ${resultOf(op)}`, path,
		`at ${instant(op[OP.begin], run.end / 100)}, took ${time(op[OP.duration])}`].filter(line => line);
}

function cellOf(lane, bin) {
	return { most: lane.cells.charCodeAt(2 * bin) - 48, share: parseInt(lane.cells[2 * bin + 1], 16) };
}

charts.timeline = function (figure, run) {
	const rows = rowsOf(run), perLane = run.lanes.map(() => []), areAll = run.all;
	const used = new Set(run.ops.map(op => DATA.kinds[op[OP.kind]][1]));

	run.ops.forEach(op => perLane[op[OP.lane]].push(op));
	run.lanes.forEach(lane => { for (let b = 0; b < DATA.bins; b++) if (cellOf(lane, b).share) used.add(cellOf(lane, b).most); });

	function cells(body, frame) {
		const paths = DATA.classes.map(() => "");

		run.lanes.forEach((lane, i) => {
			for (const [first, end] of groupsOf(frame, run.width, DATA.bins, 1)) {
				let share = 0, most = 0, best = -1;

				for (let b = first; b < end; b++) {
					const cell = cellOf(lane, b);

					share += cell.share / (end - first);
					if (cell.share > best)
						[best, most] = [cell.share, cell.most];
				}
				const x = frame.x(first * run.width), w = Math.max(0.5, frame.x(end * run.width) - x);
				const h = share / DATA.share_levels * (rows.height - 2);

				if (h > 0)
					paths[most] += `M${x.toFixed(1)} ${((i + 1) * rows.height - 1).toFixed(1)}h${w.toFixed(1)}v${-Math.max(h, 1).toFixed(1)}h${-w.toFixed(1)}z`;
			}
		});
		paths.forEach((d, c) => draw(body, "path", { class: "area light c" + c, d }));
	}

	function operations(body, frame) {
		const paths = DATA.classes.map(() => ""), inset = rows.height > 9 ? 3 : 1;

		for (const op of run.ops) {
			const begin = op[OP.begin], end = begin + op[OP.duration];

			if (end < frame.view.from || begin > frame.view.to)
				continue;
			const x = Math.max(-2, frame.x(begin)), w = Math.max(1, Math.min(frame.plot + 2, frame.x(end)) - x);

			paths[DATA.kinds[op[OP.kind]][1]] +=
				`M${x.toFixed(1)} ${op[OP.lane] * rows.height + inset}h${w.toFixed(1)}v${rows.height - 2 * inset}h${-w.toFixed(1)}z`;
		}
		paths.forEach((d, c) => draw(body, "path", { class: "area c" + c, d }));
	}

	/* The operation at a place, the shortest of several. */
	function operationAt(ns, row, pixel) {
		const slack = 2 * pixel;

		return perLane[row].filter(op => op[OP.begin] - slack <= ns && op[OP.begin] + op[OP.duration] + slack >= ns)
			.sort((a, b) => a[OP.duration] - b[OP.duration])[0];
	}

	/* It, or the share of the bin. */
	function describe(ns, row, pixel) {
		const lane = run.lanes[row], found = operationAt(ns, row, pixel);
		const bin = Math.max(0, Math.min(DATA.bins - 1, Math.floor(ns / run.width))), cell = cellOf(lane, bin);

		if (found)
			return opLines(run, found).concat(run.around && around.find(run, found) !== undefined ? ["click, or Enter: its dependencies"] : []);
		return [`${lane.name} at ${instant(ns, (frame0.view.to - frame0.view.from))}`, cell.share && !areAll ?
			`about ${Math.round(100 * cell.share / DATA.share_levels)} % of the time in operations, most in ${DATA.classes[cell.most]}` :
			"in no operation"];
	}

	let frame0;

	zoomTools(figure, run);
	timeChart(figure, run, {
		label: `Timeline of ${rows.count} rows`,
		left: rows.left,
		height: () => rows.count * rows.height,
		rows: () => rows.count,
		rowAt: rows.at,
		rowY: row => (row + 0.5) * rows.height,
		draw(svg, body, frame) {
			frame0 = frame;
			rows.names(svg, frame);
			if (!areAll)
				cells(body, frame);
			operations(body, frame);
		},
		describe,
		pick(ns, row, pixel) {
			const found = operationAt(ns, row, pixel), node = found && run.around ? around.find(run, found) : undefined;

			if (node !== undefined)
				around.show(run, node);
		},
	});
	legend(figure, DATA.classes.map((name, c) => ["c" + c, name]).filter((_, c) => used.has(c)));
};
