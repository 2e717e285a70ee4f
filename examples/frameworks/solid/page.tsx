/** @jsxImportSource solid-js */
import { useAgent, useMessage, usePart } from 'phi-core/solid'
import { chatOf, type ToolPart } from 'phi-core/store'
import { For, Index, Show } from 'solid-js'
import { render } from 'solid-js/web'
import type { Tools } from '../agent.ts'
import { addressOf, readForm, session } from '../session.ts'

const { send, stop, approve, deny } = chatOf(session).actions

function Button(props: { label: string; act: () => unknown }) {
  return <button {...{ type: 'button', onClick: () => props.act() }}>{props.label}</button>
}

function Call(props: { part: ToolPart<Tools> }) {
  const weather = () => (props.part.toolName === 'weather' ? props.part : undefined)
  const words = () => (props.part.toolName === 'weather' ? `The weather in ${props.part.input?.city}` : `Theme: ${props.part.input?.theme}`)
  return (
    <section aria-label={props.part.toolName} data-status={props.part.status}>
      <p>{words()}</p>
      <Show when={props.part.approval}>{(approval) => <Button label="Allow" act={() => approve(approval())} />}</Show>
      <Show when={props.part.approval}>{(approval) => <Button label="Deny" act={() => deny(approval(), 'not now')} />}</Show>
      <Show when={weather()?.output}>{(output) => <p>Rain: {output().rain * 100} %</p>}</Show>
    </section>
  )
}

/** While a response streams, only this component updates. */
function Part(props: { id: string; index: number }) {
  const part = usePart<Tools>(session, props.id, props.index)
  const of = <Type extends string>(type: Type) => {
    const shown = part()
    return shown?.type === type ? (shown as Extract<typeof shown, { type: Type }>) : undefined
  }
  return [
    <Show when={of('text')}>{(shown) => <p>{shown().text}</p>}</Show>,
    <Show when={of('image')}>{(shown) => <img alt="of the conversation" src={addressOf(shown())} />}</Show>,
    <Show when={of('tool')}>{(shown) => <Call part={shown()} />}</Show>,
  ]
}

function Message(props: { id: string }) {
  const message = useMessage(session, props.id)
  return (
    <li data-role={message()?.role}>
      <Index each={message()?.parts}>{(_, index) => <Part id={props.id} index={index} />}</Index>
    </li>
  )
}

function Page() {
  const chat = useAgent(session)
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const form = event.currentTarget
    // The text stays in the field until the conversation contains the message.
    if (await send(...(await readForm(new FormData(form))))) form.reset()
  }
  return [
    <ol>
      <For each={chat().messageIds}>{(id) => <Message id={id} />}</For>
    </ol>,
    <form onSubmit={submit} data-status={chat().status}>
      <input name="message" aria-label="Message" />
      <input name="picture" aria-label="Picture" type="file" accept="image/*" />
      <select name="model" aria-label="Model">
        <For each={['fast', 'deep']}>{(name) => <option>{name}</option>}</For>
      </select>
      <button type="submit">Send</button>
      <Show when={chat().status === 'running'}>
        <Button label="Stop" act={stop} />
      </Show>
      <Show when={chat().error}>{(error) => <p role="alert">{error().message}</p>}</Show>
    </form>,
  ]
}

render(() => <Page />, document.querySelector('main') ?? document.body)
