/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe.js - uses a page as a reader would, and writes "right" or "wrong" for each check into the page. See run.
 */
const results = [];

function check(name, isRight) {
	results.push(`${isRight ? "right" : "wrong"}: ${name}`);
}

function key(element, name, isShifted) {
	element.dispatchEvent(new KeyboardEvent("keydown", { key: name, shiftKey: Boolean(isShifted), bubbles: true, cancelable: true }));
}

function pointer(element, type, x, y) {
	const box = element.getBoundingClientRect();

	element.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y, button: 0, pointerId: 1,
		pointerType: "mouse", bubbles: true }));
}

const frames = count => new Promise(done => {
	const next = () => count-- > 0 ? setTimeout(next, 30) : done();

	next();
});

const tipText = () => tip.hidden ? "" : tip.textContent;

async function timeline() {
	const svg = document.querySelector('[data-chart="timeline"] svg.time'), run = DATA.runs[0], view = viewOf(run);

	svg.setPointerCapture = () => {}; /* there is no such pointer */
	pointer(svg, "pointermove", svg.clientWidth / 2, 8);
	check("hover shows a tip", tipText() !== "");
	pointer(svg, "pointerleave", 0, 0);
	check("the tip goes with the pointer", tip.hidden);
	pointer(svg, "pointerdown", svg.clientWidth * 0.5, 8);
	pointer(svg, "pointermove", svg.clientWidth * 0.7, 8);
	pointer(svg, "pointerup", svg.clientWidth * 0.7, 8);
	svg.dispatchEvent(new MouseEvent("click", { clientX: svg.getBoundingClientRect().left + svg.clientWidth * 0.7,
		clientY: svg.getBoundingClientRect().top + 8, bubbles: true }));
	check("a drag chooses nothing", document.activeElement === document.body);
	await frames(2);
	const span = view.to - view.from;
	check("a drag zooms", span < run.end * 0.4 && span > run.end * 0.1);
	key(svg, "0");
	await frames(3);
	check("0 shows the whole run", view.from === 0 && view.to === Math.max(run.end, 1));
	key(svg, "+");
	await frames(3);
	check("+ zooms", view.to - view.from <= run.end / 2 + 200);
	check("keys show a tip", tipText() !== "");
	const before = view.from;
	key(svg, "ArrowRight", true);
	await frames(3);
	check("shift and an arrow pan", view.from > before);
	key(svg, "Escape");
	check("escape hides the tip", tip.hidden);
	svg.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
	await frames(2);
	check("a double click shows the whole run", view.from === 0);
	document.querySelector('[data-chart="timeline"] .tools button').click();
	await frames(2);
	check("the button zooms", view.to - view.from < run.end);
	setView(run, 0, run.end);
	await frames(2);
	clickTimeline(svg, run);
}

/* On an operation that the dependency view has, and for which a click on its middle is not one on another one. */
function clickTimeline(svg, run) {
	const left = svg.querySelector("rect.frame").x.baseVal.value, plot = svg.querySelector("rect.frame").width.baseVal.value;
	const height = svg.querySelector("rect.frame").height.baseVal.value / run.lanes.length;
	const open = run.around ? run.ops.filter(op => around.find(run, op) !== undefined) : [];
	const op = open.sort((a, b) => b[OP.duration] - a[OP.duration])[0];

	if (!op)
		return;
	const x = left + (op[OP.begin] + op[OP.duration] / 2) / run.end * plot, y = (op[OP.lane] + 0.5) * height, box = svg.getBoundingClientRect();
	const label = () => document.querySelector("svg.around .box.chosen").getAttribute("aria-label");
	const words = `took ${time(op[OP.duration])}`, others = open.filter(o => o[OP.lane] === op[OP.lane] && o !== op &&
		o[OP.begin] < op[OP.begin] + op[OP.duration] && o[OP.begin] + o[OP.duration] > op[OP.begin]);

	pointer(svg, "pointermove", x, y);
	check("the tip offers the dependencies", tipText().includes("its dependencies"));
	pointer(svg, "pointerdown", x, y);
	pointer(svg, "pointerup", x, y);
	svg.dispatchEvent(new MouseEvent("click", { clientX: box.left + x, clientY: box.top + y, bubbles: true }));
	check("a click shows the dependencies of the operation", others.length || label().includes(words));
	check("and moves the focus there", document.activeElement.classList.contains("chosen"));
	document.activeElement.blur();
}

async function dependencies() {
	const figure = document.querySelector('[data-chart="around"]'), svg = figure.querySelector("svg.around");
	const chosen = () => svg.querySelector(".box.chosen"), label = () => chosen().getAttribute("aria-label");
	const select = figure.querySelector("select"), first = label(), firstName = chosen().querySelector("text").textContent, active = () => document.activeElement;

	check("an operation is preselected", first !== "" && figure.querySelector("p[aria-live]").textContent !== "");
	check("all names are inside of their boxes", [...svg.querySelectorAll(".box")].every(box => [...box.querySelectorAll("text")].every(text =>
		text.getBoundingClientRect().right <= box.querySelector(".body").getBoundingClientRect().right + 1)));
	check("a wait has a thick line", Boolean(svg.querySelector(".link.waited")) === /waited/.test(first));
	const other = [...select.options].find(option => option.value && option.value !== select.value);
	if (other) {
		select.value = other.value;
		select.dispatchEvent(new Event("change"));
		check("the list shows another operation", label() !== first);
		key(chosen(), "x");
		chosen().focus();
		key(active(), "Backspace");
		check("Backspace goes back", label() === first);
	}
	chosen().focus();
	key(active(), "ArrowLeft");
	const box = active();
	check("an arrow key moves the focus to a predecessor", box !== chosen() && svg.contains(box));
	const name = box.querySelector("text").textContent, isOpen = box.getAttribute("aria-disabled") === "false";
	key(box, "Enter");
	check("Enter shows it", !isOpen || (chosen().querySelector("text").textContent === name && active() === chosen()));
	if (isOpen) {
		const neighbours = [...svg.querySelectorAll(".box:not(.chosen) .first")].map(text => text.textContent);

		check("the first one is among its neighbours", neighbours.includes(firstName));
		figure.querySelector(".tools button").click();
		check("the button goes back", label() === first);
	}
	key(active(), "ArrowDown");
	pointer(svg.querySelector(".box"), "pointermove", 5, 5);
	check("a box has a tip with its cause", tipText().length > 10);
	pointer(svg.querySelector(".box"), "pointerleave", 0, 0);
	document.activeElement.blur();
	await frames(1);
}

function tables() {
	const table = [...document.querySelectorAll("table.sortable")].find(t => t.tBodies[0].rows.length > 2 && t.offsetParent &&
		quantityOf(t.tBodies[0].rows[0].cells[1].textContent) !== null);

	if (!table)
		return;
	const values = () => [...table.tBodies[0].rows].map(row => quantityOf(row.cells[1].textContent));
	const button = table.tHead.rows[0].cells[1].querySelector("button");

	button.click();
	const down = values();
	check("a table sorts, the largest first", down.every((v, i) => !i || down[i - 1] >= v));
	button.click();
	const up = values();
	check("and the smallest first", up.every((v, i) => !i || up[i - 1] <= v));
	check("its order is announced", table.tHead.rows[0].cells[1].getAttribute("aria-sort") === "ascending");
}

/* The first column has names, the fifth shares; as far as the page has call sites. */
function callSites() {
	const section = document.getElementById("sites-0"), table = section && section.querySelector("table.sortable");

	if (!table)
		return;
	const rows = () => [...table.tBodies[0].rows], button = table.tHead.rows[0].cells[4].querySelector("button");
	const shares = () => rows().map(row => quantityOf(row.cells[4].textContent));

	check("call sites have rows, the most time first", rows().length > 3 && shares().every((v, i, all) => !i || all[i - 1] >= v));
	button.click();
	button.click();
	check("call sites sort by their share", shares().every((v, i, all) => !i || all[i - 1] <= v) && shares()[0] < shares()[rows().length - 1]);
	button.click();
	check("the table of call sites scrolls inside of the window", section.querySelector(".scroll").getBoundingClientRect().right <= innerWidth + 1);
	check("call sites are in the contents", Boolean(document.querySelector('#contents a[href="#sites-0"]')) || DATA.runs.length > 1);
}

function figures() {
	for (const figure of document.querySelectorAll("figure[data-chart]")) {
		const svg = figure.querySelector("svg, p");
		const area = svg && svg.getBoundingClientRect();

		check(`${figure.dataset.chart} is drawn`, area && area.width > 100 && area.height > 10);
		for (const text of figure.querySelectorAll("svg text"))
			if (text.getBoundingClientRect().right > innerWidth + 1)
				check(`${figure.dataset.chart}: "${text.textContent}" is inside the window`, false);
	}
	check("colours are those of the scheme", getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)");
}

(async () => {
	await frames(5);
	figures();
	check("the page is no wider than the window", document.documentElement.scrollWidth <= innerWidth);
	check("no script of a trace has run", !document.title.startsWith("owned"));
	check("no element of a trace is there", !document.querySelector("img, iframe, object, embed, link") &&
		document.querySelectorAll("script").length === 3); /* data, the page, and this one */
	check("each link has a target", [...document.querySelectorAll("a")].every(a => document.getElementById(a.getAttribute("href").slice(1))));
	check("numbers are read with their unit", quantityOf("1.50 ms") === 1.5e6 && quantityOf("2.00 KiB") === 2048 && quantityOf("x") === null);
	if (document.querySelector('[data-chart="timeline"]'))
		await timeline();
	if (document.querySelector('[data-chart="around"]'))
		await dependencies();
	tables();
	callSites();
	results.push("end of the probe");
	put(document.body, "pre", { id: "results" }, "\n" + results.join("\n") + "\n");
})();
