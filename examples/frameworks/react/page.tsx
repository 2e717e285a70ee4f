/** @jsxImportSource react */
import { useAgent, useMessage, usePart } from 'phi-core/react'
import { chatOf } from 'phi-core/store'
import { memo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import type { Tools } from '../agent.ts'
import { session } from '../session.ts'

const { send, stop, approve, deny } = chatOf(session).actions

/** While an answer is written, this is all that is rendered. */
const Part = memo(({ id, index }: { id: string; index: number }) => {
  const part = usePart<Tools>(session, id, index)
  if (part?.type === 'text') return <p>{part.text}</p>
  if (part?.type !== 'tool') return null
  const { approval, input, output, status } = part
  return (
    <section aria-label={part.toolName} data-status={status}>
      <p>The weather in {input?.city}</p>
      {approval && (
        <button type="button" onClick={() => approve(approval)}>
          Allow
        </button>
      )}
      {approval && (
        <button type="button" onClick={() => deny(approval, 'not now')}>
          Refuse
        </button>
      )}
      {output && <p>Rain: {output.rain * 100} %</p>}
    </section>
  )
})

const Message = memo(({ id }: { id: string }) => {
  const message = useMessage(session, id)
  return (
    <li data-role={message?.role}>
      {message?.parts.map((_, index) => (
        <Part key={String(index)} id={id} index={index} />
      ))}
    </li>
  )
})

function Composer() {
  const status = useAgent(session, (state) => state.status)
  const error = useAgent(session, (state) => state.error)
  const [draft, write] = useState('')
  const say = async () => {
    // The words stay until they are in the conversation.
    if (await send(draft)) write('')
  }
  return (
    <form action={say} data-status={status}>
      <label>
        Message <input value={draft} onChange={({ target }) => write(target.value)} />
      </label>
      {status === 'running' && (
        <button type="button" onClick={stop}>
          Stop
        </button>
      )}
      {error && <p role="alert">{error.message}</p>}
    </form>
  )
}

function Page() {
  const ids = useAgent(session, (state) => state.messageIds)
  const messages = ids.map((id) => <Message key={id} id={id} />)
  return [<ol key="messages">{messages}</ol>, <Composer key="composer" />]
}

createRoot(document.querySelector('main') ?? document.body).render(<Page />)
