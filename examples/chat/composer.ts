import type { Chat, ChatState } from 'phi-core/store'
import { button } from './transcript.ts'

/** The elements around a transcript: composer, status and errors. */
export interface ComposerElements {
  form: HTMLFormElement
  field: HTMLTextAreaElement
  stop: HTMLButtonElement
  status: HTMLElement
}

/** Connects the composer to `chat`. Returns a function that disconnects it. */
export function attachComposer(chat: Chat, { form, field, stop, status }: ComposerElements): () => void {
  const listening = new AbortController()
  const { signal } = listening

  async function say(): Promise<void> {
    const text = field.value.trim()
    if (text === '' || field.readOnly) return
    field.readOnly = true
    // The text stays in the field until the conversation or its queue contains it.
    const isHeard = await chat.actions.send(text)
    field.readOnly = false
    if (isHeard && field.value.trim() === text) field.value = ''
  }

  function draw(): void {
    const state = chat.getSnapshot()
    stop.hidden = state.status !== 'running'
    status.replaceChildren(textOf(state))
    if (state.error !== undefined)
      status.append(
        ' ',
        button('Try again', () => void (field.value.trim() === '' ? chat.actions.proceed() : say())),
      )
  }

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    void say()
  }
  const onKey = (event: KeyboardEvent) => {
    // Enter can end an IME composition (Japanese, Chinese, …). In WebKit, only the key code shows this.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    void say()
  }
  form.addEventListener('submit', onSubmit, { signal })
  field.addEventListener('keydown', onKey, { signal })
  stop.addEventListener('click', chat.actions.stop, { signal })
  field.disabled = false
  draw()
  const leave = chat.subscribe(draw)
  return () => {
    leave()
    listening.abort()
  }
}

/** Shows the status of the conversation, and the message of the last error. */
function textOf({ status, approvals, error, queue, run }: ChatState): string {
  if (error !== undefined) return error.message
  if (approvals.length > 0) return 'A call waits for you.'
  if (run.retry !== undefined) return `Trying again (${run.retry.attempt} of ${run.retry.maxRetries})…`
  if (queue.length > 0) return `${queue.length} waiting to be said.`
  return { running: 'Answering…', aborted: 'Stopped.', limit: 'The run stopped at a limit.', loading: 'Loading…' }[String(status)] ?? ''
}
