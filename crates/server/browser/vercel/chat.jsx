// A chat as an application writes it with Vercel's AI SDK. The agent, its history and all decisions are at the server.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const api = "/api/ui/booker/chat";
const id = new URLSearchParams(location.search).get("chat");

/// Decides as whoever is signed in: nothing is decided by a message.
const decide = (url, body) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

function Question({ data }) {
  const [answer, setAnswer] = useState("");
  if (data.status !== "pending") return <p className="answered">{data.question?.text}</p>;
  return (
    <form className="question" onSubmit={(event) => { event.preventDefault(); decide(data.url, { decision: "answer", answer }); }}>
      <label>{data.question.text} <input value={answer} onChange={(event) => setAnswer(event.target.value)} /></label>
      <button>Answer</button>
    </form>
  );
}

function Part({ part }) {
  if (part.type === "text") {
    return part.providerMetadata?.agents?.superseded ? null : <p className="text">{part.text}</p>;
  }
  if (part.type === "data-question") return <Question data={part.data} />;
  if (part.type === "data-approval") {
    const { status, tool_name, refusal } = part.data;
    return <p className="approval" data-status={status}>{tool_name}: {status}{refusal ? ` (${refusal})` : ""}</p>;
  }
  if (part.type.startsWith("tool-")) {
    const { type, state, input, output } = part;
    return <p className="tool" data-tool={type.slice(5)} data-state={state}>{JSON.stringify(input)} {JSON.stringify(output)}</p>;
  }
  return null;
}

function Chat({ said }) {
  const [text, setText] = useState("");
  const { messages, sendMessage, status, error } = useChat({
    id,
    messages: said,
    resume: true,
    transport: new DefaultChatTransport({ api }),
  });
  const send = (event) => { event.preventDefault(); sendMessage({ text }); setText(""); };
  return (
    <main data-status={status}>
      {messages.map((message) => (
        <section key={message.id} className={message.role}>
          {message.parts.map((part, at) => <Part key={at} part={part} />)}
        </section>
      ))}
      {error && <p className="error">{error.message}</p>}
      <form className="say" onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button>Send</button>
      </form>
    </main>
  );
}

const said = await (await fetch(`${api}/${encodeURIComponent(id)}`)).json();
createRoot(document.getElementById("root")).render(<Chat said={said} />);
