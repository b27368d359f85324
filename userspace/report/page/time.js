/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * time.js - charts over time: one view for all charts of a run; zoom, pan, cursor, by pointer and keyboard.
 */
const views = new Map();

/* The part of a run that its charts show. */
function viewOf(run) {
	if (!views.has(run))
		views.set(run, { from: 0, to: Math.max(run.end, 1), redraws: [], isDue: false });
	return views.get(run);
}

function setView(run, from, to) {
	const view = viewOf(run), end = Math.max(run.end, 1), least = Math.min(end, 200);
	const span = Math.min(end, Math.max(to - from, least));

	view.from = Math.max(0, Math.min(from, end - span));
	view.to = view.from + span;
	if (view.isDue)
		return;
	view.isDue = true;
	requestAnimationFrame(() => redrawView(view));
}

/* Once for all changes since the last time. */
function redrawView(view) {
	if (view.isDue) {
		view.isDue = false;
		view.redraws.forEach(redraw => redraw());
	}
}

function zoom(run, factor, around) {
	const view = viewOf(run), at = around === undefined ? (view.from + view.to) / 2 : around;

	setView(run, at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function pan(run, share) {
	const view = viewOf(run), by = (view.to - view.from) * share;

	setView(run, view.from + by, view.to + by);
}

/* Buttons for all that the pointer and keys do. */
function zoomTools(figure, run) {
	const tools = put(figure, "div", { class: "tools", role: "group", "aria-label": "Zoom" });
	const button = (text, label, act) => put(tools, "button", { type: "button", "aria-label": label, title: label }, text)
		.addEventListener("click", act);

	button("+", "zoom in", () => zoom(run, 0.5));
	button("\u2212", "zoom out", () => zoom(run, 2));
	button("\u2190", "earlier", () => pan(run, -0.4));
	button("\u2192", "later", () => pan(run, 0.4));
	button("all", "show the whole run", () => setView(run, 0, run.end));
}

function timeAxis(svg, view, left, plot, y) {
	const span = view.to - view.from;

	draw(svg, "path", { class: "axis", d: `M${left} ${y + 0.5}h${plot}` });
	for (const ns of ticks(view.from, view.to, plot / 110)) {
		const x = left + (ns - view.from) / span * plot;

		draw(svg, "path", { class: "axis", d: `M${Math.round(x) + 0.5} ${y}v4` });
		draw(svg, "text", { class: "weak", x: Math.max(left + 12, Math.min(x, left + plot - 22)), y: y + 16,
			"text-anchor": "middle" }, instant(ns, span / 10).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " "));
	}
}

/*
 * spec: label; left(width), height(width) in pixels; draw(svg, body, frame), where body clips to the plot;
 * describe(ns, row, pixel) gives lines of text; rows(), rowAt(y) and rowY(row), if there are rows; pick(ns, row, pixel), if
 * something can be chosen by a click or Enter.
 */
function timeChart(figure, run, spec) {
	const view = viewOf(run), right = 6;
	const svg = draw(figure, "svg", { class: "time", tabindex: "0", role: "group", "aria-roledescription": "chart",
		"aria-label": spec.label });
	let frame, overlay, from = null, cursor = null, wasDrag = false;

	function redraw() {
		const width = Math.max(figure.clientWidth, 200), left = spec.left(width), height = spec.height(width);
		const plot = width - left - right;

		frame = { width, left, plot, height, view, x: ns => (ns - view.from) / (view.to - view.from) * plot };
		svg.replaceChildren();
		fill(svg, { width, height: height + 22, viewBox: `0 0 ${width} ${height + 22}` });
		draw(svg, "rect", { class: "frame", x: left, y: 0, width: plot, height });
		const body = draw(svg, "svg", { x: left, y: 0, width: plot, height, overflow: "hidden" });
		spec.draw(svg, body, frame);
		timeAxis(svg, view, left, plot, height);
		overlay = draw(svg, "g");
	}

	function nsAt(clientX) {
		const x = clientX - svg.getBoundingClientRect().left - frame.left;

		return view.from + Math.max(0, Math.min(1, x / frame.plot)) * (view.to - view.from);
	}

	function mark(ns, until) {
		overlay.replaceChildren();
		if (until === undefined) {
			const x = frame.left + frame.x(ns);

			draw(overlay, "path", { class: "cursor", d: `M${x} 0V${frame.height}` });
		} else {
			const [a, b] = [ns, until].map(frame.x).sort((p, q) => p - q);

			draw(overlay, "rect", { class: "picked", x: frame.left + a, y: 0, width: b - a, height: frame.height });
		}
	}

	function show(ns, row, x, y) {
		const lines = spec.describe(ns, row, (view.to - view.from) / frame.plot);

		mark(ns);
		if (lines.length)
			showTip(x, y, lines);
		else
			hideTip();
	}

	svg.addEventListener("pointermove", event => {
		const ns = nsAt(event.clientX), y = event.clientY - svg.getBoundingClientRect().top;

		if (from !== null) {
			mark(from, ns);
			showTip(event.clientX, event.clientY, [`${time(Math.abs(ns - from))} selected`]);
		} else {
			show(ns, spec.rowAt ? spec.rowAt(y) : 0, event.clientX, event.clientY);
		}
	});
	svg.addEventListener("pointerdown", event => {
		wasDrag = false;
		if (event.button === 0 && event.pointerType !== "touch") {
			from = nsAt(event.clientX);
			svg.setPointerCapture(event.pointerId);
		}
	});
	svg.addEventListener("pointerup", event => {
		const to = nsAt(event.clientX), begin = from;

		from = null;
		overlay.replaceChildren();
		wasDrag = begin !== null && Math.abs(frame.x(to) - frame.x(begin)) > 4;
		if (wasDrag) {
			hideTip();
			setView(run, Math.min(begin, to), Math.max(begin, to));
		}
	});
	svg.addEventListener("click", event => {
		const y = event.clientY - svg.getBoundingClientRect().top;

		if (spec.pick && !wasDrag)
			spec.pick(nsAt(event.clientX), spec.rowAt(y), (view.to - view.from) / frame.plot);
	});
	svg.addEventListener("pointerleave", () => { overlay.replaceChildren(); hideTip(); });
	svg.addEventListener("dblclick", () => setView(run, 0, run.end));
	svg.addEventListener("wheel", event => {
		if (!event.ctrlKey && !event.metaKey && !event.shiftKey)
			return; /* the page scrolls */
		event.preventDefault();
		if (event.shiftKey)
			pan(run, Math.sign(event.deltaY || event.deltaX) * 0.15);
		else
			zoom(run, event.deltaY > 0 ? 1.3 : 1 / 1.3, nsAt(event.clientX));
	}, { passive: false });
	svg.addEventListener("keydown", event => {
		const span = view.to - view.from, rows = spec.rows ? spec.rows() : 1;
		const moves = { ArrowLeft: -1, ArrowRight: 1 }, jumps = { ArrowUp: -1, ArrowDown: 1 };

		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		cursor = cursor || { ns: view.from + span / 2, row: 0 };
		if (event.shiftKey && event.key in moves)
			pan(run, moves[event.key] * 0.25);
		else if (event.key in moves)
			cursor.ns += moves[event.key] * span / 100;
		else if (event.key in jumps && spec.rows)
			cursor.row += jumps[event.key];
		else if (event.key === "+" || event.key === "=")
			zoom(run, 0.5, cursor.ns);
		else if (event.key === "-")
			zoom(run, 2, cursor.ns);
		else if (event.key === "0" || event.key === "Home")
			setView(run, 0, run.end);
		else if (event.key === "Escape")
			return hideTip();
		else if (event.key === "Enter" && spec.pick)
			return spec.pick(cursor.ns, cursor.row, span / frame.plot);
		else
			return;
		event.preventDefault();
		cursor.row = Math.max(0, Math.min(rows - 1, cursor.row));
		cursor.ns = Math.max(view.from, Math.min(view.to, cursor.ns));
		redrawView(view);
		const box = svg.getBoundingClientRect();

		show(cursor.ns, cursor.row, box.left + frame.left + frame.x(cursor.ns),
			box.top + (spec.rowY ? spec.rowY(cursor.row) : 20));
	});
	svg.addEventListener("blur", () => { overlay.replaceChildren(); hideTip(); });
	view.redraws.push(redraw);
	onResize(figure, redraw);
}

/* Visible bins in groups of at least `pixels`: a list of [first, end). */
function groupsOf(frame, width, bins, pixels) {
	const first = Math.max(0, Math.floor(frame.view.from / width));
	const end = Math.min(bins, Math.ceil(frame.view.to / width));
	const each = Math.max(1, Math.ceil((end - first) * pixels / frame.plot)), list = [];

	for (let bin = first - first % each; bin < end; bin += each)
		list.push([bin, Math.min(bin + each, bins)]);
	return list;
}

function sumOf(values, first, end) {
	let sum = 0;

	for (let i = first; i < end; i++)
		sum += values[i];
	return sum;
}
