/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * base.js - elements, quantities, axes, legends and the tip, for all charts.
 *
 * Text of a trace is only ever a text node or an attribute value that is set as such: never markup.
 */
"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, text) {
	for (const name in attributes || {})
		element.setAttribute(name, attributes[name]);
	if (text !== undefined)
		element.textContent = text;
	return element;
}

/* A new HTML element, the last one in its parent. */
function put(parent, name, attributes, text) {
	return parent.appendChild(fill(document.createElement(name), attributes, text));
}

/* A new SVG element. */
function draw(parent, name, attributes, text) {
	return parent.appendChild(fill(document.createElementNS(SVG, name), attributes, text));
}

/* -- quantities ------------------------------------------------------------------------------------------ */

function digits(value) {
	return value === 0 ? "0" : value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
}

function scaled(value, step, units) {
	let unit = 0;

	while (value >= step && unit + 1 < units.length) {
		value /= step;
		unit++;
	}
	return digits(value) + " " + units[unit];
}

function time(ns) {
	return ns < 1000 ? Math.round(ns) + " ns" : scaled(ns / 1000, 1000, ["us", "ms", "s"]);
}

function bytes(count) {
	return count < 1024 ? Math.round(count) + " B" : scaled(count / 1024, 1024, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
}

function number(count) {
	return count < 1000 ? String(Math.round(count * 100) / 100) : count < 1e5 ? String(Math.round(count)) :
		scaled(count / 1000, 1000, ["k", "M", "G"]);
}

/* A point in time, with as many decimals as the span of the view needs. */
function instant(ns, span) {
	const [unit, word] = span > 2e9 ? [1e9, "s"] : span > 2e6 ? [1e6, "ms"] : [1e3, "us"];
	const decimals = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(Math.max(span, 1) / unit))));

	return (ns / unit).toFixed(decimals) + " " + word;
}

/* Round numbers between two numbers, about `count` of them. */
function ticks(from, to, count, base) {
	const span = (to - from) / Math.max(count, 1), list = [];
	let step;

	if (!(span > 0))
		return list;
	if (base === 1024) {
		step = 2 ** Math.ceil(Math.log2(span));
	} else {
		const power = 10 ** Math.floor(Math.log10(span));

		step = [1, 2, 5, 10].map(m => m * power).find(s => s >= span * 0.999);
	}
	for (let i = Math.ceil(from / step); i * step <= to && list.length < 50; i++)
		list.push(i * step);
	return list;
}

/* -- parts of charts ---------------------------------------------------------------------------------------- */

function clip(text, characters) {
	return text.length <= characters ? text : text.slice(0, Math.ceil(characters / 2) - 1) + "\u2026" +
		text.slice(text.length - Math.floor(characters / 2));
}

/* items: [class of colour, text, class of the swatch] */
function legend(figure, items) {
	const list = put(figure, "ul", { class: "legend" });

	for (const [colour, text, shape] of items) {
		const item = put(list, "li");

		put(item, "span", { class: "swatch " + colour + " " + (shape || ""), "aria-hidden": "true" });
		item.appendChild(document.createTextNode(text));
	}
	return list;
}

/* Labels of a vertical axis, with lines across the plot. */
function sideAxis(svg, left, width, y, values, format) {
	for (const value of values) {
		draw(svg, "path", { class: "grid", d: `M${left} ${Math.round(y(value)) + 0.5}h${width}` });
		draw(svg, "text", { class: "weak", x: left - 5, y: y(value) + 4, "text-anchor": "end" }, format(value));
	}
}

const tip = document.getElementById("tip");

function showTip(x, y, lines) {
	tip.replaceChildren();
	for (const line of lines)
		put(tip, "div", {}, line);
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
	tip.style.top = (y + 16 + box.height < innerHeight ? y + 16 : Math.max(4, y - box.height - 10)) + "px";
}

function hideTip() {
	tip.hidden = true;
}

addEventListener("scroll", hideTip, { passive: true });

/* Charts are drawn again when their width changes. */
const redraws = new Map();
const watcher = new ResizeObserver(entries => {
	for (const entry of entries) {
		const known = redraws.get(entry.target);

		if (known && known.width !== entry.target.clientWidth) {
			known.width = entry.target.clientWidth;
			known.redraw();
		}
	}
});

function onResize(element, redraw) {
	redraws.set(element, { redraw, width: element.clientWidth });
	watcher.observe(element);
	redraw();
}

const charts = {};
