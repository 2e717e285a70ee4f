/** @jsxImportSource react */
import { useAgent, useMessage, usePart } from 'phi-core/react'
import { chatOf } from 'phi-core/store'
import { type FormEvent, memo } from 'react'
import { createRoot } from 'react-dom/client'
import type { Tools } from '../agent.ts'
import { addressOf, readForm, session } from '../session.ts'

const { send, stop, approve, deny } = chatOf(session).actions

function Button({ label, act }: { label: string; act: () => unknown }) {
  return <button {...{ type: 'button', onClick: act }}>{label}</button>
}

/** While a response streams, only this component renders. */
const Part = memo(({ id, index }: { id: string; index: number }) => {
  const part = usePart<Tools>(session, id, index)
  if (part?.type === 'text') return <p>{part.text}</p>
  if (part?.type === 'image') return <img alt="of the conversation" src={addressOf(part)} />
  if (part?.type !== 'tool') return null
  const { approval, status } = part
  return (
    <section aria-label={part.toolName} data-status={status}>
      {part.toolName === 'weather' ? <p>The weather in {part.input?.city}</p> : <p>Theme: {part.input?.theme}</p>}
      {approval && <Button label="Allow" act={() => approve(approval)} />}
      {approval && <Button label="Deny" act={() => deny(approval, 'not now')} />}
      {part.toolName === 'weather' && part.output && <p>Rain: {part.output.rain * 100} %</p>}
    </section>
  )
})

const Message = memo(({ id }: { id: string }) => {
  const message = useMessage(session, id)
  const parts = message?.parts.map((_, index) => <Part key={String(index)} id={id} index={index} />)
  return <li data-role={message?.role}>{parts}</li>
})

function Composer() {
  const status = useAgent(session, (state) => state.status)
  const error = useAgent(session, (state) => state.error)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    // The text stays in the field until the conversation contains the message.
    if (await send(...(await readForm(new FormData(form))))) form.reset()
  }
  return (
    <form onSubmit={submit} data-status={status}>
      <input name="message" aria-label="Message" />
      <input name="picture" aria-label="Picture" type="file" accept="image/*" />
      <select name="model" aria-label="Model">
        {['fast', 'deep'].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <button type="submit">Send</button>
      {status === 'running' && <Button label="Stop" act={stop} />}
      {error && <p role="alert">{error.message}</p>}
    </form>
  )
}

function Page() {
  const ids = useAgent(session, (state) => state.messageIds)
  return [
    <ol key="messages">
      {ids.map((id) => (
        <Message key={id} id={id} />
      ))}
    </ol>,
    <Composer key="composer" />,
  ]
}

createRoot(document.querySelector('main') ?? document.body).render(<Page />)
