// The two things that must happen in the browser itself.
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
