/** @jsxImportSource react */
import { Agent, type AgentOptions, type Model, resumeAgent } from 'phi-core'
import { indexedDbSessionStore } from 'phi-core/browser'
import { anthropic } from 'phi-core/providers/anthropic'
import { useAgent } from 'phi-core/react'
import { scripted } from 'phi-core/testing'
import { type FormEvent, useState } from 'react'
import { createRoot } from 'react-dom/client'

const store = indexedDbSessionStore({ name: 'agent-in-the-tab' })

/** Continues the latest conversation of this browser, or starts the first one. */
async function openAgent(model: Model): Promise<Agent> {
  const options: AgentOptions = { model, systemPrompt: 'You are a helpful assistant.' }
  const [latest] = await store.listIds()
  return latest === undefined ? new Agent({ ...options, session: store }) : resumeAgent(store, latest, options)
}

/** The key stays in memory: a reload asks for it again. */
const modelWith = (apiKey: string): Model =>
  apiKey === ''
    ? scripted(() => ({ text: 'I am a scripted model, running in this tab.' }))
    : anthropic('claude-sonnet-4-6', { apiKey, dangerouslyAllowBrowser: true })

// #region chat
function Chat({ agent }: { agent: Agent }) {
  const { messages, status, error, send, stop } = useAgent(agent)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    // Resolves with true when the message is part of the conversation.
    if (await send(String(new FormData(form).get('text')))) form.reset()
  }
  return (
    <form onSubmit={submit}>
      {messages.map(({ id, role, parts }) => (
        <article key={id} data-role={role}>
          {parts.map((part, index) => (part.type === 'text' ? <p key={String(index)}>{part.text}</p> : null))}
        </article>
      ))}
      <input name="text" aria-label="Message" required />
      <button type="submit">Send</button>
      {status === 'running' && (
        <button type="button" onClick={stop}>
          Stop
        </button>
      )}
      {error && <p role="alert">{error.message}</p>}
    </form>
  )
}
// #endregion chat

function Page() {
  const [agent, setAgent] = useState<Agent>()
  const start = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const apiKey = String(new FormData(event.currentTarget).get('key'))
    setAgent(await openAgent(modelWith(apiKey)))
  }
  if (agent !== undefined) return <Chat agent={agent} />
  return (
    <form onSubmit={start}>
      <input name="key" type="password" aria-label="Anthropic API key" placeholder="Leave empty for a demo" />
      <button type="submit">Start</button>
    </form>
  )
}

createRoot(document.querySelector('main') ?? document.body).render(<Page />)
