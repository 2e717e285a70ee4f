/** @jsxImportSource solid-js */
import { useAgent, useMessage, usePart } from 'phi-core/solid'
import { chatOf, type ToolPart } from 'phi-core/store'
import { createSignal, For, Index, Show } from 'solid-js'
import { render } from 'solid-js/web'
import type { Tools } from '../agent.ts'
import { session } from '../session.ts'

const { send, stop, approve, deny } = chatOf(session).actions

function Call(props: { part: ToolPart<Tools> }) {
  return (
    <section aria-label={props.part.toolName} data-status={props.part.status}>
      <p>The weather in {props.part.input?.city}</p>
      <Show when={props.part.approval}>
        {(approval) => [
          <button type="button" onClick={() => approve(approval())}>
            Allow
          </button>,
          <button type="button" onClick={() => deny(approval(), 'not now')}>
            Refuse
          </button>,
        ]}
      </Show>
      <Show when={props.part.output}>{(output) => <p>Rain: {output().rain * 100} %</p>}</Show>
    </section>
  )
}

/** While an answer is written, this is all that changes. */
function Part(props: { id: string; index: number }) {
  const part = usePart<Tools>(session, props.id, props.index)
  const call = () => {
    const shown = part()
    return shown?.type === 'tool' ? shown : undefined
  }
  const text = () => {
    const shown = part()
    return shown?.type === 'text' ? shown : undefined
  }
  return [<Show when={text()}>{(shown) => <p>{shown().text}</p>}</Show>, <Show when={call()}>{(shown) => <Call part={shown()} />}</Show>]
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
  const [draft, write] = createSignal('')
  const say = async (event: SubmitEvent) => {
    event.preventDefault()
    // The words stay until they are in the conversation.
    if (await send(draft())) write('')
  }
  return [
    <ol>
      <For each={chat().messageIds}>{(id) => <Message id={id} />}</For>
    </ol>,
    <form onSubmit={say} data-status={chat().status}>
      <label>
        Message <input value={draft()} onInput={({ currentTarget }) => write(currentTarget.value)} />
      </label>
      <Show when={chat().status === 'running'}>
        <button type="button" onClick={stop}>
          Stop
        </button>
      </Show>
      <Show when={chat().error}>{(error) => <p role="alert">{error().message}</p>}</Show>
    </form>,
  ]
}

render(() => <Page />, document.querySelector('main') ?? document.body)
