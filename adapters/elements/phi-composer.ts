import type { Chat, ChatState, QueuedMessage } from '../../src/store/index.ts'
import { ChatElement } from './chat-element.ts'
import { arrange, button, make } from './dom.ts'
import type { Words } from './words.ts'

/** Where one writes. Enter sends, Shift and Enter begins a line. The words stay until they are in the conversation. */
export class PhiComposerElement extends ChatElement {
  readonly #input = make('textarea', 'write', { rows: '1' })
  readonly #queue = make('ul', 'queue')
  #said: Words | undefined
  #stop: HTMLElement | undefined
  #alert: HTMLElement | undefined
  #error: ChatState['error']

  protected show(chat: Chat, said: Words): void {
    if (this.#said?.send !== said.send || this.#said.message !== said.message) this.#build(chat, said)
    const { status, error, queue } = chat.getSnapshot()
    this.#stop?.toggleAttribute('hidden', status !== 'running')
    if (error !== this.#error) this.#alert?.replaceChildren(...(error === undefined ? [] : [error.message]))
    this.#error = error
    arrange(
      this.#queue,
      queue.map(({ id }) => id),
      (id) =>
        queued(
          queue.find((each) => each.id === id),
          () => chat.actions.withdraw(id),
          said,
        ),
    )
    this.#queue.toggleAttribute('hidden', queue.length === 0)
  }

  #build(chat: Chat, said: Words): void {
    this.#said = said
    this.setAttribute('part', 'composer')
    this.#stop = button('stop', said.stop, () => chat.actions.stop())
    this.#alert = make('p', 'error', { role: 'alert' })
    const form = make('form', 'form', {}, make('label', 'label', {}, `${said.message} `, this.#input))
    form.append(make('button', 'send', { type: 'submit' }, said.send), this.#stop)
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#say(chat)
    })
    this.#input.addEventListener('keydown', (event) => {
      // An input method that is not done takes the key for itself; some say so by its code alone.
      const isComposing = event.isComposing || event.keyCode === 229
      if (event.key !== 'Enter' || event.shiftKey || isComposing) return
      event.preventDefault()
      form.requestSubmit()
    })
    this.replaceChildren(this.#queue, form, this.#alert)
  }

  async #say(chat: Chat): Promise<void> {
    const words = this.#input.value
    if (words.trim() === '') return
    const isSaid = await chat.actions.send(words)
    if (isSaid && this.#input.value === words) this.#input.value = ''
  }
}

function queued(waiting: QueuedMessage | undefined, takeBack: () => void, said: Words): HTMLElement {
  const content = waiting?.message.role === 'user' ? waiting.message.content : []
  const text = content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ')
  return make('li', 'queued', {}, make('span', 'queued-text', {}, text), button('take-back', said.takeBack, takeBack))
}
