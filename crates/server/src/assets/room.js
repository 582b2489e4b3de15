// Makes pages live: what any process stores is shown without a new load. Without this script, pages work as well.
"use strict";
(() => {
  const main = document.getElementById("main");
  const status = document.getElementById("status");
  const live = main && main.dataset.live;

  /// Returns true for a card that somebody is working on: it is not taken away meanwhile.
  const isTouched = (card) =>
    card.contains(document.activeElement) && document.activeElement !== card
    || [...card.querySelectorAll("textarea, input[type=text]")].some((field) => field.value !== field.defaultValue);

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

  /// Keeps a connection open while the page is seen, and returns what ends it. Browsers allow six connections to a server,
  /// those of pages in other tabs and of pages that were left a moment ago included.
  const connect = (open) => {
    let source = null;
    const look = () => {
      if (!document.hidden) { source ??= open(); return; }
      source?.close();
      source = null;
    };
    document.addEventListener("visibilitychange", look);
    look();
    return () => { document.removeEventListener("visibilitychange", look); source?.close(); };
  };

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
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, credentials: "same-origin" });
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const [before, after] = [document, page].map((page) => page.querySelector("[data-list]"));
        if (before && after) { take(before, after); show(); }
        const [known, fresh] = [document, page].map((page) => page.getElementById("waiting"));
        if (known && fresh) known.replaceWith(fresh);
      }
    } catch { /* The connection comes back, and with it the next event. */ }
    isLoading = false;
    if (again) { again = false; load(); }
  };

  if (live) {
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
      for (const kind of kinds) events.addEventListener(kind, hear);
      return events;
    });
  }

  if (main && main.dataset.every) {
    setInterval(() => { if (!document.hidden) load(); }, main.dataset.every * 1000);
  }

  const writing = document.getElementById("writing");
  if (writing) follow(writing.dataset.text);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    const cards = [...document.querySelectorAll(".card")];
    const at = cards.indexOf(document.activeElement.closest(".card"));
    const press = (value) => at >= 0 && cards[at].querySelector(`button[value=${value}]`)?.click();
    switch (event.key) {
      case "j": cards[Math.min(at + 1, cards.length - 1)]?.focus(); break;
      case "k": cards[Math.max(at - 1, 0)]?.focus(); break;
      case "a": press("approve"); break;
      case "d": press("deny"); break;
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
