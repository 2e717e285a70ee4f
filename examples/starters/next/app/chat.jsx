'use client'
import { remoteSession } from 'phi-core/client'
import { useAgent, useMessage, usePart } from 'phi-core/react'
import { chatOf } from 'phi-core/store'
import { useEffect, useState } from 'react'

/** The conversation of this tab, which a reload restores. */
function openSession() {
  sessionStorage.chat ??= crypto.randomUUID()
  return remoteSession({ url: '/api/agent', sessionId: sessionStorage.chat })
}

export function Chat() {
  const [session, setSession] = useState()
  // Only in the browser: the server renders the page without a conversation.
  useEffect(() => setSession(openSession()), [])
  return session && <Conversation session={session} />
}

function Conversation({ session }) {
  const { messageIds, status, error } = useAgent(session)
  const { send, stop } = chatOf(session).actions
  const say = async (event) => {
    event.preventDefault()
    const form = event.currentTarget
    // The text stays in the field until the conversation contains the message.
    if (await send(new FormData(form).get('message'))) form.reset()
  }
  return (
    <>
      <ol>
        {messageIds.map((id) => (
          <Message key={id} session={session} id={id} />
        ))}
      </ol>
      <form onSubmit={say}>
        <input name="message" aria-label="Message" autoComplete="off" />
        <button type="submit">Send</button>
        {status === 'running' && (
          <button type="button" onClick={stop}>
            Stop
          </button>
        )}
      </form>
      {error && <p role="alert">{error.message}</p>}
    </>
  )
}

function Message({ session, id }) {
  const message = useMessage(session, id)
  return (
    <li data-role={message?.role}>
      {message?.parts.map((_, index) => (
        <Part key={index} session={session} id={id} index={index} />
      ))}
    </li>
  )
}

/** While a response streams, only this component renders. */
function Part({ session, id, index }) {
  const part = usePart(session, id, index)
  const { approve, deny } = chatOf(session).actions
  if (part?.type === 'text') return <p>{part.text}</p>
  if (part?.type !== 'tool') return null
  const { toolName, input, approval } = part
  return (
    <p>
      {toolName} {JSON.stringify(input)}
      {approval && (
        <>
          <button type="button" onClick={() => approve(approval)}>
            Allow
          </button>
          <button type="button" onClick={() => deny(approval, 'not now')}>
            Deny
          </button>
        </>
      )}
    </p>
  )
}
