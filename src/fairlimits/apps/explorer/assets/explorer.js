// What must happen in the browser itself.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  explorer: {
    // Ask for what the controls say, one question at a time: while one is being answered, the slider runs ahead, and
    // what it says in the end is asked then.
    ask(...given) {
      const same = window.dash_clientside.no_update;
      const asked = given.pop();
      const busy = given.pop();
      return busy || JSON.stringify(given) === JSON.stringify(asked) ? same : given;
    },
    // Stop a file that is too large before it is sent. What was taken is forgotten, so that the same file can be
    // dropped again.
    accept(contents, name, limit) {
      const same = window.dash_clientside.no_update;
      if (!contents) { return [same, same, same]; }
      if (contents.length > limit.characters) { return [same, limit.words, null]; }
      return [{contents: contents, name: name, at: Date.now()}, "", null];
    },
  },
});

// Dash calls a check box an option of a list box, and leaves sliders without a name. Screen readers are told what
// they are: a group of native check boxes, and the tolerance of a notion.
const tell = (element, name, value) => {
  if (element && element.getAttribute(name) !== value) { element.setAttribute(name, value); }
};
const name_controls = () => {
  for (const list of document.querySelectorAll('[role="listbox"].dash-options-list')) {
    tell(list, "role", "group");
  }
  for (const option of document.querySelectorAll('.dash-options-list label')) {
    option.removeAttribute("role");
    option.removeAttribute("aria-selected");
  }
  tell(document.querySelector('.upload input[type="file"]'), "aria-label", "a CSV of predictions");
  for (const place of document.querySelectorAll(".tolerance")) {
    const words = "largest gap allowed, " + place.querySelector(".dash-options-list").textContent.trim();
    tell(place.querySelector('[role="slider"]'), "aria-label", words);
    tell(place.querySelector('input[type="number"]'), "aria-label", words);
  }
};
new MutationObserver(name_controls).observe(document, {
  childList: true, subtree: true, attributes: true, attributeFilter: ["role", "aria-selected"],
});
