// A run as AG-UI's own client makes it. The client checks each event and their order, and fails where they do not fit.
import { HttpAgent } from "@ag-ui/client";

/// Runs the agent with this text, and returns the messages, the custom events, the tokens and the error that the client has read.
window.runAgent = async (threadId, text, onCustom) => {
  const agent = new HttpAgent({
    url: "/api/ui/booker/ag-ui",
    threadId,
    initialMessages: [{ id: crypto.randomUUID(), role: "user", content: text }],
  });
  const seen = { messages: [], custom: [], tokens: 0, error: null };
  await agent.runAgent({}, {
    onCustomEvent: ({ event }) => { seen.custom.push([event.name, event.value]); onCustom?.(event); },
    onRunErrorEvent: ({ event }) => { seen.error = event.message; },
    onRunFinishedEvent: ({ event }) => { seen.tokens = event.usage?.[0]?.totalTokens ?? 0; },
  });
  seen.messages = agent.messages;
  return seen;
};
