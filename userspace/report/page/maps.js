/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * maps.js - offsets of the busiest files over time: reads, writes, and cells with both.
 */
charts.maps = function (figure, run) {
	const HEIGHT = 150, LEFT = 66;

	legend(figure, [["c0", "read"], ["c1", "written"], ["both", "both"]]);
	const grid = put(figure, "div", { class: "tiled" });

	function levels(map, row, bin) {
		const code = map.cells.charCodeAt(row * DATA.map_bins + bin) - 48;

		return [code & 7, code >> 3];
	}

	function drawMap(svg, map, width) {
		const plot = width - LEFT - 6, w = plot * Math.min(1, 1) / (run.end / run.map_width || 1), h = HEIGHT / DATA.map_rows;
		const view = { from: 0, to: Math.max(run.end, 1) }, paths = {};

		svg.replaceChildren();
		fill(svg, { width, height: HEIGHT + 22, viewBox: `0 0 ${width} ${HEIGHT + 22}` });
		draw(svg, "rect", { class: "frame", x: LEFT, y: 0, width: plot, height: HEIGHT });
		const body = draw(svg, "svg", { x: LEFT, y: 0, width: plot, height: HEIGHT, overflow: "hidden" });
		for (let row = 0; row < DATA.map_rows; row++)
			for (let bin = 0; bin < DATA.map_bins; bin++) {
				const [read, written] = levels(map, row, bin), level = Math.max(read, written);
				const key = (read && written ? "both" : read ? "c0" : "c1") + " " + Math.ceil(level / 2);

				if (level)
					paths[key] = (paths[key] || "") +
						`M${(bin * w).toFixed(1)} ${(HEIGHT - (row + 1) * h).toFixed(1)}h${Math.max(w, 1).toFixed(1)}v${(h + 0.2).toFixed(1)}h${-Math.max(w, 1).toFixed(1)}z`;
			}
		for (const key in paths) {
			const [colour, level] = key.split(" ");

			draw(body, "path", { class: "area " + colour, d: paths[key], opacity: 0.4 + 0.15 * level });
		}
		const span = map.end - map.begin || 1;
		sideAxis(svg, LEFT, plot, v => HEIGHT - (v - map.begin) / span * HEIGHT, ticks(map.begin, map.end, 3, 1024)
			.filter(v => (v - map.begin) / span < 0.96), v => v ? bytes(v) : "0");
		timeAxis(svg, view, LEFT, plot, HEIGHT);
	}

	for (const map of run.maps) {
		const box = put(grid, "div");

		put(box, "h4", {}, `${map.path} (${bytes(map.bytes)})`);
		const svg = draw(box, "svg", { role: "img", "aria-label": `Accesses to ${map.path}: ${bytes(map.bytes)} between ${bytes(map.begin)} and ${bytes(map.end)}` });

		svg.addEventListener("pointermove", event => {
			const area = svg.getBoundingClientRect(), x = event.clientX - area.left - LEFT, y = event.clientY - area.top;
			const plot = area.width - LEFT - 6, ns = x / plot * run.end, row = Math.floor((1 - y / HEIGHT) * DATA.map_rows);
			const bin = Math.floor(ns / run.map_width);

			if (x < 0 || x > plot || row < 0 || row >= DATA.map_rows || bin >= DATA.map_bins)
				return hideTip();
			const [read, written] = levels(map, row, bin), at = map.begin + row / DATA.map_rows * (map.end - map.begin);

			showTip(event.clientX, event.clientY, [`${instant(ns, run.end)}, from offset ${bytes(at)}`,
				read && written ? "read and written" : read ? "read" : written ? "written" : "no access"]);
		});
		svg.addEventListener("pointerleave", hideTip);
		onResize(box, () => drawMap(svg, map, Math.max(box.clientWidth, 200)));
	}
};
