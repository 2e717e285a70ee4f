/** @jsxImportSource react */
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import type { FormEvent } from 'react'
import { createRoot } from 'react-dom/client'

// The session id. Each tab has a separate session, and a reload continues it.
sessionStorage.chat ??= crypto.randomUUID()
const id: string = sessionStorage.chat

const transport = new DefaultChatTransport({
  api: '/chat',
  // The server stores the history, so the page sends only its last two messages.
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
    body: { ...body, id, messages: messages.slice(-2), trigger, messageId },
  }),
})

function Chat({ initial }: { initial: UIMessage[] }) {
  const { messages, sendMessage, stop, status, error, addToolApprovalResponse } = useChat({
    id,
    transport,
    messages: initial,
    resume: true, // reconnects to an active run after a reload
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void sendMessage({ text: String(new FormData(event.currentTarget).get('text')) })
    event.currentTarget.reset()
  }
  // `stop` only closes the stream. The request stops the run on the server.
  const stopRun = () => fetch(`/chat/${id}/stop`, { method: 'POST' }).then(stop)
  return (
    <>
      {messages.map(({ id: messageId, role, parts }) => (
        <article key={messageId} data-role={role}>
          {parts.map((part, index) => {
            const key = String(index)
            if (part.type === 'text') return <p key={key}>{part.text}</p>
            if (part.type !== 'dynamic-tool') return null
            const { state, approval, toolName } = part
            if (state !== 'approval-requested') return <p key={key}>{`${toolName}: ${state}`}</p>
            const decide = (approved: boolean) => addToolApprovalResponse({ id: approval.id, approved })
            return (
              <p key={key}>
                {`${toolName} ${JSON.stringify(part.input)} `}
                <button type="button" onClick={() => decide(true)}>
                  Allow
                </button>
                <button type="button" onClick={() => decide(false)}>
                  Deny
                </button>
              </p>
            )
          })}
        </article>
      ))}
      <form onSubmit={submit}>
        <input name="text" aria-label="Message" required />
        <button type="submit">Send</button>
        <button type="button" onClick={stopRun} disabled={status === 'ready'}>
          Stop
        </button>
        {error && <p role="alert">{error.message}</p>}
      </form>
    </>
  )
}

const { messages } = await (await fetch(`/chat/${id}`)).json()
createRoot(document.querySelector('main') ?? document.body).render(<Chat initial={messages} />)
