import type { Chat, ChatState, QueuedMessage } from '../../src/store.ts'
import { ChatElement, chatAround } from './chat-element.ts'
import { arrange, button, make, steadyButton } from './dom.ts'
import type { Words } from './phi-chat-options.ts'

type PromptInput = Parameters<Chat['actions']['send']>[0]
type Said = Exclude<PromptInput, string> extends readonly (infer Message)[] ? Message : never

/** A message of words and files, as an agent takes it. */
async function messageOf(words: string, files: readonly File[]): Promise<Said> {
  const media = await Promise.all(files.map(blockOf))
  const text = words.trim() === '' ? [] : [{ type: 'text' as const, text: words }]
  return { role: 'user', content: [...text, ...media], timestamp: Date.now() } as Said // what a message of a user is
}

async function blockOf(file: File) {
  const data = await base64Of(file)
  const mimeType = file.type === '' ? 'application/octet-stream' : file.type
  return mimeType.startsWith('image/') ? { type: 'image', mimeType, data } : { type: 'file', mimeType, data, name: file.name }
}

function base64Of(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}

/** Where one writes. Enter sends, Shift and Enter begins a line. The words stay until they are in the conversation. */
export class PhiComposerElement extends ChatElement {
  readonly #input = make('textarea', 'write', { rows: '1' })
  readonly #queue = make('ul', 'queue')
  readonly #models = make('select', 'models')
  readonly #files = make('input', 'files', { type: 'file', multiple: '' })
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
    this.#stop = steadyButton('stop', said.stop, () => chat.actions.stop())
    this.#alert = make('p', 'error', { role: 'alert' })
    const form = make('form', 'form', {}, make('label', 'label', {}, `${said.message} `, this.#input))
    form.append(...this.#choices(said), make('button', 'send', { type: 'submit' }, said.send), this.#stop)
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

  /** What a message can have besides words, where the page says so at its `<phi-chat>`. */
  #choices(said: Words): HTMLElement[] {
    const [models, files] = ['models', 'files'].map((name) => chatAround(this)?.getAttribute(name) ?? undefined)
    const choices: HTMLElement[] = []
    if (files !== undefined) {
      this.#files.accept = files
      this.#files.setAttribute('aria-label', said.files)
      choices.push(this.#files)
    }
    if (models !== undefined) {
      this.#models.setAttribute('aria-label', said.choice)
      this.#models.replaceChildren(...models.split(/\s+/).map((name) => make('option', 'model', {}, name)))
      choices.push(this.#models)
    }
    return choices
  }

  async #say(chat: Chat): Promise<void> {
    const words = this.#input.value
    const files = [...(this.#files.files ?? [])]
    if (words.trim() === '' && files.length === 0) return
    // The first is the agent's own.
    const model = this.#models.selectedIndex > 0 ? { model: this.#models.value } : {}
    const input = files.length === 0 ? words : await messageOf(words, files).catch((error: unknown) => this.#refuse(error))
    const isSaid = input !== undefined && (await chat.actions.send(input, model))
    if (!isSaid) return
    if (this.#input.value === words) this.#input.value = ''
    this.#files.value = ''
  }

  /** A file that cannot be read: what was written stays. */
  #refuse(error: unknown): undefined {
    this.#alert?.replaceChildren(error instanceof Error ? error.message : String(error))
  }
}

function queued(waiting: QueuedMessage | undefined, takeBack: () => void, said: Words): HTMLElement {
  const content = waiting?.message.role === 'user' ? waiting.message.content : []
  const text = content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ')
  return make('li', 'queued', {}, make('span', 'queued-text', {}, text), button('take-back', said.takeBack, takeBack))
}
