// Makes pages live: what any process stores is shown without a new load. It keeps what is typed, and says when the server or
// the session is gone. Without this script, pages work as well.
"use strict";
(() => {
  const main = document.getElementById("main");
  const status = document.getElementById("status");
  const live = main && main.dataset.live;
  if (!live) return;
  const hears = "hears" in main.dataset;

  const TYPED = "textarea, input[type=text], select";
  /// Returns true for a field that is not as the server has made it.
  const isEdited = (field) => {
    if (field.type === "checkbox") return field.checked !== field.defaultChecked;
    if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
    const own = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
    return own !== undefined && field.value !== own.value;
  };
  const edited = (form) => [...form.elements].filter((field) => field.matches(`${TYPED}, input[type=checkbox]`) && isEdited(field));

  /// Returns true for a card that somebody is working on: it is not taken away meanwhile.
  const isTouched = (card) =>
    card.contains(document.activeElement) && document.activeElement !== card
    || [...card.querySelectorAll(TYPED)].some(isEdited);

  /// Replaces the list by the one of a new page, and leaves the cards alone that have not changed.
  const take = (before, after) => {
    // A card that is moved loses the focus, and the next key would go nowhere.
    const focused = document.activeElement;
    const all = "[data-approval-id], [data-execution-id]";
    const id = (card) => card.dataset.approvalId ?? card.dataset.executionId;
    const cards = new Map([...before.querySelectorAll(all)].map((card) => [id(card), card]));
    if (cards.size === 0) { before.replaceChildren(...after.childNodes); return; }
    for (const fresh of after.querySelectorAll(all)) {
      const known = cards.get(id(fresh));
      cards.delete(id(fresh));
      if (known && (isTouched(known) || known.dataset.status === fresh.dataset.status)) fresh.replaceWith(known);
    }
    for (const gone of cards.values()) {
      if (!isTouched(gone)) continue;
      // Somebody else has decided: what was typed stays, and can be copied.
      gone.dataset.gone = "";
      gone.querySelectorAll("button").forEach((button) => { button.disabled = true; });
      after.prepend(gone);
      status.textContent = "What you were writing about was decided elsewhere.";
    }
    before.replaceChildren(...after.childNodes);
    if (before.contains(focused)) focused.focus({ preventScroll: true });
  };

  // What is typed is kept in the tab until it was sent: after a failure, a restart or a new sign-in it is there again. It is
  // kept for whoever has typed it.
  const draftOf = (form) => {
    const chat = new URLSearchParams(location.search).get("conversation") ?? "";
    return ["draft", form.querySelector("[name=token]").value, form.getAttribute("action"), chat].join(" ");
  };
  const forms = () => [...document.querySelectorAll("form[method=post]")];
  const keep = (form) => {
    const fields = edited(form).map((field) => [field.name, field.type === "checkbox" ? field.value : null, field.value]);
    const text = JSON.stringify({ fields });
    try {
      if (fields.length === 0) sessionStorage.removeItem(draftOf(form));
      else sessionStorage.setItem(draftOf(form), text);
    } catch { /* A tab without storage keeps nothing. */ }
  };
  const drafts = () => Object.keys(sessionStorage).filter((key) => key.startsWith("draft "));
  const restore = (form) => {
    const kept = JSON.parse(sessionStorage.getItem(draftOf(form)) ?? "null");
    if (!kept) return;
    for (const [name, box, value] of kept.fields) {
      const field = [...form.elements].find((one) => one.name === name && (box === null || one.value === box));
      if (!field || field.type === "hidden") continue;
      if (box !== null) field.checked = !field.defaultChecked;
      else field.value = value;
      const around = field.closest("details");
      if (around) around.open = true;
    }
  };
  const sent = "sent draft";
  try {
    // A page that was loaded behind a form, and does not say that it has failed: what was sent is done.
    const [how] = performance.getEntriesByType("navigation");
    const done = sessionStorage.getItem(sent);
    sessionStorage.removeItem(sent);
    if (done && how?.type === "navigate" && !("failed" in main.dataset)) sessionStorage.removeItem(done);
    if (drafts().length > 0) forms().forEach(restore);
  } catch { /* There is no storage. */ }
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form?.method === "post") keep(form);
  });

  /// Keeps a connection open while the page is seen, and returns what ends it. Browsers allow six connections to a server,
  /// those of pages in other tabs and of pages that were left a moment ago included.
  const connect = (open) => {
    let source = null;
    const look = () => {
      if (document.hidden) { source?.close(); source = null; }
      // A server that refuses ends the connection for good: the next look opens another one.
      else if (source === null || source.readyState === EventSource.CLOSED) source = open();
    };
    document.addEventListener("visibilitychange", look);
    document.addEventListener("found", look);
    look();
    return () => {
      document.removeEventListener("visibilitychange", look);
      document.removeEventListener("found", look);
      source?.close();
    };
  };

  // Whether the server and the session are there. While they are not, no button of a form can be pressed.
  const banner = document.getElementById("connection");
  const who = document.querySelector(".who b")?.textContent;
  let gone = "";
  const link = (text) => {
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = text;
    return link;
  };
  const tell = (state, since) => {
    // Whoever has signed in here meanwhile gets a page of their own.
    if (gone === "other") return;
    if (state === "") document.dispatchEvent(new Event("found"));
    if (state === gone) return;
    gone = state;
    banner.hidden = state === "";
    const at = since.toLocaleTimeString();
    const told = {
      "": [],
      lost: [`The server has not answered since ${at}. This page may be out of date. Trying again…`],
      out: ["You are signed out. What you have typed is kept. ", link("Sign in again")],
      other: ["Somebody else has signed in. ", link("Load the page again")],
    };
    banner.replaceChildren(...told[state]);
    for (const button of document.querySelectorAll(state === "" ? "button[data-off]" : "form[method=post] button:enabled")) {
      button.disabled = state !== "";
      if (state === "") delete button.dataset.off;
      else button.dataset.off = "";
    }
  };
  let asked = null;
  const ask = async () => {
    const began = new Date();
    try {
      const how = { method: "HEAD", redirect: "manual", cache: "no-store", signal: AbortSignal.timeout(10_000) };
      const { status, type } = await fetch(live, how);
      // Whoever is not signed in is told so, or sent to where people sign in.
      tell(status === 401 || type === "opaqueredirect" ? "out" : status >= 500 ? "lost" : "", began);
    } catch { tell("lost", began); }
    return gone === "";
  };
  // Several that ask at once get the same answer.
  const look = () => { asked ??= ask().finally(() => { asked = null; }); return asked; };
  const soon = () => { if (!document.hidden && gone !== "other") look(); };
  setInterval(soon, 3000);
  document.addEventListener("visibilitychange", soon);

  // A form is sent once the server has answered: what is typed into it does not get lost on the way.
  let isSure = false, isSending = false;
  document.addEventListener("submit", async (event) => {
    const { target: form, submitter } = event;
    if (submitter?.hidden) return; // Enter in a field
    if (form.method !== "post" || isSure) return;
    event.preventDefault();
    // Whoever presses a button twice has pressed it once.
    if (isSending) return;
    isSending = true;
    if (await look()) {
      isSure = true;
      keep(form);
      try { if (sessionStorage.getItem(draftOf(form))) sessionStorage.setItem(sent, draftOf(form)); } catch { /* As above. */ }
      form.requestSubmit(submitter);
      isSure = false;
    }
    setTimeout(() => { isSending = false; }, 1000);
  });

  // The answer as it is written: pieces come, and a list that is loaded anew does not lose them.
  let written = null;
  const show = () => {
    const section = document.getElementById("writing");
    if (!section || written === null) return;
    section.hidden = written === "";
    section.querySelector("bdi").textContent = written;
  };
  const follow = (address) => {
    const end = connect(() => {
      const text = new EventSource(address);
      text.onopen = () => { written = ""; };
      text.addEventListener("piece", (event) => { written += JSON.parse(event.data); show(); });
      text.addEventListener("reset", () => { written = ""; show(); });
      text.addEventListener("end", () => { end(); load(); });
      return text;
    });
  };

  let isLoading = false, again = false;
  const load = async () => {
    if (isLoading) { again = true; return; }
    isLoading = true;
    try {
      const how = { headers: { accept: "text/html" }, redirect: "manual", credentials: "same-origin" };
      const answer = await fetch(location.href, how);
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (page.querySelector(".who b")?.textContent !== who) tell("other", new Date());
        else {
          const [before, after] = [document, page].map((page) => page.querySelector("[data-list]"));
          if (before && after) { take(before, after); show(); }
          const [known, fresh] = [document, page].map((page) => page.getElementById("waiting"));
          if (known && fresh) known.replaceWith(fresh);
        }
      } else look();
    } catch { look(); }
    isLoading = false;
    if (again) { again = false; load(); }
  };

  if (hears) {
    const kinds = ["started", "paused", "held", "released", "cancelled", "finished", "requested", "approved", "denied",
      "revision_requested", "expired", "withdrawn", "refused", "began", "ran", "ended", "in_doubt", "settled", "undo_asked",
      "undone", "not_undone", "erased", "mode", "missed"];
    let isOpen = false;
    // The page of a run hears of this run alone.
    const own = main.dataset.run;
    const hear = (event) => { if (!own || event.type === "missed" || JSON.parse(event.data).run_id === own) load(); };
    connect(() => {
      // What has happened since the page was made comes first. What has happened while there was no connection is on the
      // page that is loaded then.
      const events = new EventSource(isOpen || !main.dataset.at ? live : `${live}?after=${main.dataset.at}`);
      events.onopen = () => { if (isOpen) load(); isOpen = true; };
      events.onerror = soon;
      for (const kind of kinds) events.addEventListener(kind, hear);
      return events;
    });
  }

  if (main.dataset.every) {
    setInterval(() => { if (!document.hidden && gone === "") load(); }, main.dataset.every * 1000);
  }

  // Times go on, by the clock of the server; their titles are in the time of whoever looks.
  const skew = Date.now() - Number(main.dataset.now);
  const inWords = (seconds) => {
    const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
    if (days > 0) return `${days} d ${hours} h`;
    if (hours > 0) return `${hours} h ${minutes} min`;
    return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`;
  };
  const tick = () => {
    for (const time of document.querySelectorAll("main time")) {
      const at = new Date(time.dateTime), { goes } = time.dataset;
      time.title = at.toLocaleString();
      if (!goes) continue;
      const seconds = (Date.now() - skew - at) / 1000;
      const ago = seconds < 1 ? "just now" : `${inWords(seconds)} ago`;
      const told = goes === "ago" ? ago : inWords(Math.max(0, -seconds));
      if (time.textContent !== told) time.textContent = told;
    }
  };
  tick();
  setInterval(tick, 5000);

  const writing = document.getElementById("writing");
  if (writing) follow(writing.dataset.text);

  /// Presses a button, or shows first what it would do if that is asked about.
  const press = (button) => {
    const asks = button?.closest("details.confirm");
    if (asks && document.activeElement !== button) { asks.open = true; button.focus(); }
    else button?.click();
  };

  /// Returns the button by which a form is sent; null if there are several, none of which stands out.
  const mainButton = (form) => {
    const all = [...form.elements].filter((one) => one.type === "submit" && !one.hidden);
    return form.querySelector("button.approve") ?? (all.length === 1 ? all[0] : null);
  };

  // What a request would do with arguments that were edited, and which requests are ticked.
  document.addEventListener("toggle", (event) => {
    const asks = event.target;
    if (!asks.matches?.("details.confirm") || !asks.open) return;
    const form = asks.closest("form"), changed = asks.querySelector(".edited"), ticked = asks.querySelector("#ticked");
    const args = edited(form).filter((field) => field.name.startsWith("argument"));
    const told = args.map((field) => `${field.name.replace("argument.", "")}: ${field.value}`);
    if (changed && told.length > 0) changed.textContent = `With your arguments: ${told.join(", ")}.`;
    if (ticked) {
      const effect = (box) => {
        const card = box.closest(".card");
        return (card.querySelector(".effect, .summary") ?? card.querySelector("h3 a")).textContent;
      };
      const boxes = [...form.elements].filter((one) => one.name === "id" && one.checked);
      ticked.textContent = boxes.length === 0 ? "None is." : `${boxes.length}: ${boxes.map(effect).join("; ")}.`;
    }
  }, true);

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (key === "Escape") {
      const asks = target.closest("details.confirm[open]");
      if (asks) { asks.open = false; asks.querySelector("summary").focus(); }
      return;
    }
    if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const form = target.form ?? target.closest("form");
      if (form?.method !== "post" || event.repeat) return;
      event.preventDefault();
      const button = target.matches("button") ? target : mainButton(form);
      if (button) press(button);
      else form.querySelector("button:not([hidden])")?.focus();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey || target.closest("input, textarea, select")) return;
    const cards = [...document.querySelectorAll(".card")];
    const at = cards.indexOf(document.activeElement.closest(".card"));
    // What decides is pressed on the card itself, and not on a link or a button in it.
    const decide = (value) => {
      if (at >= 0 && document.activeElement === cards[at] && !event.repeat) press(cards[at].querySelector(`button[value=${value}]`));
    };
    switch (key) {
      case "j": cards[Math.min(at + 1, cards.length - 1)]?.focus(); break;
      case "k": cards[Math.max(at - 1, 0)]?.focus(); break;
      case "a": decide("approve"); break;
      case "d": decide("deny"); break;
      case "r": cards[at]?.querySelector("input[name=note]")?.focus(); break;
      case "e": {
        const editing = cards[at]?.querySelector(".editing");
        if (editing) { editing.open = true; editing.querySelector("input, textarea, select")?.focus(); }
        break;
      }
      default: return;
    }
    event.preventDefault();
  });
})();
