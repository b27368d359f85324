/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * around.js - the dependency view: an operation between its predecessors and its successors.
 *
 * A cause has a word in each box; colours only repeat it.
 */
const NODE = { task: 0, name: 1, path: 2, begin: 3, duration: 4, waited: 5, isPath: 6, beforeAll: 7, afterAll: 8, before: 9, after: 10 };
const LINK_NUMBERS = 3; /* node, cause, time waited */
const WAITS_SAID = 3; /* in a sentence */
const BOX = { height: 60, gap: 8, head: 20, gutter: 22, middle: 56, least: 700 };
const CAUSE_COLOURS = { task: "c7", mpi: "c0", life: "both", wake: "c1", discovered: "c5", request: "c4", lock: "c6" };

function linksOf(list) {
	const links = [];

	for (let i = 0; i < (list || []).length; i += LINK_NUMBERS)
		links.push({ node: list[i], cause: list[i + 1], waited: list[i + 2] });
	return links;
}

/* For other charts: find(run, op) and show(run, node). */
const around = {
	index: new Map(), /* of each run: nodes by beginning and duration */
	views: new Map(), /* of each run: a function that shows a node */

	find(run, op) {
		const [kind, mpi] = [DATA.kinds[op[OP.kind]][0], DATA.kinds[op[OP.kind]][1] === DATA.classes.length - 1], { nodes, texts } = run.around;

		if (!around.index.has(run)) {
			const index = new Map();

			nodes.forEach((node, i) => isOpenNode(node) && index.set(`${node[NODE.begin]} ${node[NODE.duration]}`,
				(index.get(`${node[NODE.begin]} ${node[NODE.duration]}`) || []).concat([i])));
			around.index.set(run, index);
		}
		const found = (around.index.get(run).get(`${op[OP.begin]} ${op[OP.duration]}`) || []).filter(i => {
			const name = texts[nodes[i][NODE.name]];

			return mpi ? name.startsWith("MPI ") : name === kind;
		});

		return found.find(i => texts[nodes[i][NODE.task]] === run.lanes[op[OP.lane]].name) ?? found[0];
	},

	show(run, node) {
		around.views.get(run)(node);
	},
};

function isOpenNode(node) {
	return node.length > NODE.before;
}

charts.around = function (figure, run) {
	const data = run.around, nodes = data.nodes, history = [];
	const tools = put(figure, "div", { class: "tools", role: "group", "aria-label": "Choose an operation" });
	const select = put(tools, "select", { "aria-label": "operation" });
	const svg = draw(figure, "svg", { class: "around", role: "group", "aria-label": "Operation with predecessors and successors" });
	const words = put(figure, "p", { class: "small", "aria-live": "polite" });
	let at = data.waits.length ? data.waits[0] : data.path.length ? data.path[data.path.length - 1] : 0, groups = [];

	const colourOf = cause => CAUSE_COLOURS[data.causes[cause][0]] || "c3";
	const title = node => `${data.texts[node[NODE.task]]}: ${data.texts[node[NODE.name]]}`;
	const end = node => node[NODE.begin] + node[NODE.duration];
	const when = node => `at ${instant(node[NODE.begin], run.end / 100)}, took ${time(node[NODE.duration])}`;

	/* How a predecessor and a successor follow each other. */
	function relation(link, before, after, isBefore) {
		const gap = after[NODE.begin] - end(before);

		if (link.waited)
			return isBefore ? `waited ${time(link.waited)} for it` : `it waited ${time(link.waited)} for this`;
		if (gap < 0)
			return "without a wait";
		return isBefore ? `ended ${time(gap)} before` : `began ${time(gap)} after`;
	}

	function lines(index, link, isBefore) {
		const node = nodes[index], path = data.texts[node[NODE.path]];

		if (!link)
			return [title(node), when(node) + (node[NODE.waited] ? `, waited ${time(node[NODE.waited])}` : ""),
				(node[NODE.isPath] ? "on the critical path " : "") + path];
		const pair = isBefore ? [node, nodes[at]] : [nodes[at], node];

		return [title(node), `${data.causes[link.cause][0]}: ${relation(link, pair[0], pair[1], isBefore)}`,
			`took ${time(node[NODE.duration])}` + (node[NODE.isPath] ? ", on the critical path" : "") + (path ? `, ${path}` : "")];
	}

	function box(index, link, isBefore, x, y, width) {
		const text = lines(index, link, isBefore), canOpen = isOpenNode(nodes[index]) || !link;
		const group = draw(svg, "g", { class: link ? canOpen ? "box" : "box closed" : "box chosen", tabindex: "0",
			role: "button", "aria-label": text.join(", ") + (canOpen ? "" : ", neighbours are not in the report"), "aria-disabled": String(!canOpen) });

		if (!link)
			group.setAttribute("aria-current", "true");
		draw(group, "rect", { class: "body", x, y, width, height: BOX.height, rx: 5 });
		if (link)
			draw(group, "rect", { class: `mark ${colourOf(link.cause)}`, x: isBefore ? x + width - 5 : x, y, width: 5, height: BOX.height });
		text.forEach((line, i) => draw(group, "text", { class: i ? "weak" : "first", x: x + 12, y: y + 18 + 16 * i },
			clip(line, Math.floor((width - 22) / (i ? 6 : 6.4)))));
		group.addEventListener("click", () => pick(index, true));
		group.addEventListener("pointermove", event => showTip(event.clientX, event.clientY, text.concat(link ? [data.causes[link.cause][1]] : [],
			canOpen ? [] : ["Its neighbours are not in the report."])));
		group.addEventListener("pointerleave", hideTip);
		return { group, index, x, y, width };
	}

	function head(x, y, word, shown, all) {
		draw(svg, "text", { class: "weak", x, y: y + 13 }, shown < all ? `${shown} of ${all} ${word}s` : `${all || "no"} ${word}${all === 1 ? "" : "s"}`);
	}

	function connect(link, d) {
		svg.insertBefore(draw(svg, "path", { class: `link ${colourOf(link.cause)}${link.waited ? " waited" : ""}`, d }), svg.firstChild);
	}

	/* Three columns. Return: the height. */
	function columns(width, before, after) {
		const column = (width - 2 * BOX.middle) / 3, step = BOX.height + BOX.gap, rows = Math.max(before.length, after.length, 1);
		const middle = BOX.head + (rows * step - BOX.gap) / 2, left = column + BOX.middle, right = 2 * left;
		const side = (links, isBefore, x) => links.map((link, i) => {
			const y = BOX.head + i * step + (rows - links.length) * step / 2, centre = y + BOX.height / 2;

			connect(link, isBefore ? `M${x + column} ${centre}C${x + column + 30} ${centre} ${left - 30} ${middle} ${left} ${middle}` :
				`M${left + column} ${middle}C${left + column + 30} ${middle} ${x - 30} ${centre} ${x} ${centre}`);
			return box(link.node, link, isBefore, x, y, column);
		});

		head(0, 0, "predecessor", before.length, nodes[at][NODE.beforeAll] || 0);
		head(right, 0, "successor", after.length, nodes[at][NODE.afterAll] || 0);
		groups = [side(before, true, 0), [box(at, null, false, left, middle - BOX.height / 2, column)], side(after, false, right)];
		return BOX.head + rows * step;
	}

	/* One below the other, with lines at the left. Return: the height. */
	function stack(width, before, after) {
		const step = BOX.height + BOX.gap, x = BOX.gutter, middle = 2 * BOX.head + before.length * step + BOX.height / 2;
		const side = (links, isBefore, from) => links.map((link, i) => {
			const y = from + i * step, centre = y + BOX.height / 2, bend = isBefore ? 6 : 14;

			connect(link, `M${x} ${isBefore ? centre : middle}H${bend}V${isBefore ? middle : centre}H${x}`);
			return box(link.node, link, isBefore, x, y, width - x - 1);
		});

		head(x, 0, "predecessor", before.length, nodes[at][NODE.beforeAll] || 0);
		head(x, middle + BOX.height / 2 + 2, "successor", after.length, nodes[at][NODE.afterAll] || 0);
		groups = [side(before, true, BOX.head), [box(at, null, false, x, middle - BOX.height / 2, width - x - 1)],
			side(after, false, middle + BOX.height / 2 + BOX.head + 2)];
		return middle + BOX.height / 2 + BOX.head + 2 + after.length * step;
	}

	function redraw() {
		const width = Math.max(figure.clientWidth, 200), node = nodes[at];
		const before = linksOf(node[NODE.before]), after = linksOf(node[NODE.after]);

		svg.replaceChildren();
		const height = (width >= BOX.least ? columns : stack)(width, before, after) + 2;
		fill(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
	}

	function describe() {
		const node = nodes[at], waits = linksOf(node[NODE.before]).filter(link => link.waited);
		const list = waits.map(link => `${time(link.waited)} for ${title(nodes[link.node])} (${data.causes[link.cause][0]})`);

		words.textContent = `${title(node)}, ${when(node)}` + (node[NODE.waited] ? `, waited ${time(node[NODE.waited])}` : ", did not wait") +
			(list.length ? `: ${list.slice(0, WAITS_SAID).join("; ")}${list.length > WAITS_SAID ? "; and for others" : ""}.` : ".") + (isOpenNode(node) ? "" : " Its neighbours are not in the report.");
	}

	function pick(index, isFocused) {
		if (index !== at && !isOpenNode(nodes[index]))
			return;
		if (index !== at)
			history.push(at);
		show(index, isFocused);
	}

	function show(index, isFocused) {
		at = index;
		hideTip();
		redraw();
		describe();
		select.value = [...select.options].some(option => option.value === String(at)) ? String(at) : "";
		back.disabled = !history.length;
		if (isFocused)
			groups[1][0].group.focus({ preventScroll: true });
	}

	/* The next one of the critical path in the report, from the present place in time. */
	function step(by) {
		const ends = data.path.filter(i => i !== at && (by > 0 ? end(nodes[i]) >= end(nodes[at]) : end(nodes[i]) <= end(nodes[at])));

		if (ends.length)
			pick(by > 0 ? ends[0] : ends[ends.length - 1], false);
	}

	function goBack(isFocused) {
		if (history.length)
			show(history.pop(), isFocused);
	}

	function options(label, indices, text) {
		const group = put(select, "optgroup", { label });

		for (const index of indices)
			put(group, "option", { value: index }, text(nodes[index]));
	}

	put(select, "option", { value: "", hidden: "hidden" }, "another operation");
	options("Longest waits", data.waits, node => `${title(node)}, waited ${time(node[NODE.waited])}`);
	options("Critical path, in its order", data.path.filter(i => !data.waits.includes(i)), node => `${title(node)}, ${when(node)}`);
	select.addEventListener("change", () => select.value !== "" && pick(Number(select.value), false));
	const button = (text, label, act) => {
		const made = put(tools, "button", { type: "button", "aria-label": label, title: label }, text);

		made.addEventListener("click", act);
		return made;
	};
	const back = button("back", "back to the operation before", () => goBack(false));
	button("\u2190 path", "earlier on the critical path", () => step(-1));
	button("path \u2192", "later on the critical path", () => step(1));

	svg.addEventListener("keydown", event => {
		const column = groups.findIndex(group => group.some(b => b.group === document.activeElement));
		const row = column < 0 ? -1 : groups[column].findIndex(b => b.group === document.activeElement);
		const all = groups.flat(), place = all.findIndex(b => b.group === document.activeElement);
		const aside = { ArrowLeft: -1, ArrowRight: 1 }, along = { ArrowUp: -1, ArrowDown: 1 };
		let next;

		if (event.ctrlKey || event.metaKey || event.altKey || place < 0)
			return;
		if (event.key === "Enter" || event.key === " ")
			pick(all[place].index, true);
		else if (event.key === "Backspace")
			goBack(true);
		else if (event.key in aside)
			next = (groups[column + aside[event.key]] || [])[row] || (groups[column + aside[event.key]] || [])[0];
		else if (event.key in along)
			next = all[place + along[event.key]];
		else
			return;
		event.preventDefault();
		if (next)
			next.group.focus();
	});
	const used = new Map();

	for (const link of nodes.flatMap(node => linksOf(node[NODE.before])))
		used.set(colourOf(link.cause), (used.get(colourOf(link.cause)) || new Set()).add(data.causes[link.cause][0]));
	legend(figure, [...used].map(([colour, names]) => [colour, [...names].join(", ")]).concat([["c2", "it waited", "stroke thick"], ["c2", "no wait", "stroke dashed"]]));
	around.views.set(run, index => {
		pick(index, true);
		figure.scrollIntoView({ block: "nearest" });
	});
	show(at, false);
	onResize(figure, redraw);
};
