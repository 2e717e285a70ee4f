import type { Chat, ChatState, QueuedMessage } from '../../src/store.ts'
import { ChatElement, chatAround } from './chat-element.ts'
import { arrange, button, make, steadyButton } from './dom.ts'
import type { Words } from './phi-chat-options.ts'

type PromptInput = Parameters<Chat['actions']['send']>[0]
type UserInput = Exclude<PromptInput, string> extends readonly (infer Message)[] ? Message : never

/** Builds a user message from text and files. */
async function messageOf(words: string, files: readonly File[]): Promise<UserInput> {
  const media = await Promise.all(files.map(blockOf))
  const text = words.trim() === '' ? [] : [{ type: 'text' as const, text: words }]
  return { role: 'user', content: [...text, ...media], timestamp: Date.now() } as UserInput // the union of user messages is wider than this literal
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

/** The element `<phi-composer>`. Enter sends, Shift+Enter inserts a line. The text stays until the agent has accepted it. */
export class PhiComposerElement extends ChatElement {
  readonly #input = make('textarea', 'write', { rows: '1' })
  readonly #queue = make('ul', 'queue')
  readonly #models = make('select', 'models')
  readonly #files = make('input', 'files', { type: 'file', multiple: '' })
  #labels: Words | undefined
  #stop: HTMLElement | undefined
  #alert: HTMLElement | undefined
  #error: ChatState['error']

  protected show(chat: Chat, labels: Words): void {
    if (this.#labels?.send !== labels.send || this.#labels.message !== labels.message) this.#build(chat, labels)
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
          labels,
        ),
    )
    this.#queue.toggleAttribute('hidden', queue.length === 0)
  }

  #build(chat: Chat, labels: Words): void {
    this.#labels = labels
    this.setAttribute('part', 'composer')
    this.#stop = steadyButton('stop', labels.stop, () => chat.actions.stop())
    this.#alert = make('p', 'error', { role: 'alert' })
    const form = make('form', 'form', {}, make('label', 'label', {}, `${labels.message} `, this.#input))
    form.append(...this.#choices(labels), make('button', 'send', { type: 'submit' }, labels.send), this.#stop)
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#send(chat)
    })
    this.#input.addEventListener('keydown', (event) => {
      // Enter confirms an input method's candidate. Some browsers report this only by key code 229.
      const isComposing = event.isComposing || event.keyCode === 229
      if (event.key !== 'Enter' || event.shiftKey || isComposing) return
      event.preventDefault()
      form.requestSubmit()
    })
    this.replaceChildren(this.#queue, form, this.#alert)
  }

  /** Creates the model list and the file input, if `<phi-chat>` has these attributes. */
  #choices(labels: Words): HTMLElement[] {
    const [models, files] = ['models', 'files'].map((name) => chatAround(this)?.getAttribute(name) ?? undefined)
    const choices: HTMLElement[] = []
    if (files !== undefined) {
      this.#files.accept = files
      this.#files.setAttribute('aria-label', labels.files)
      choices.push(this.#files)
    }
    if (models !== undefined) {
      this.#models.setAttribute('aria-label', labels.choice)
      this.#models.replaceChildren(...models.split(/\s+/).map((name) => make('option', 'model', {}, name)))
      choices.push(this.#models)
    }
    return choices
  }

  async #send(chat: Chat): Promise<void> {
    const words = this.#input.value
    const files = [...(this.#files.files ?? [])]
    if (words.trim() === '' && files.length === 0) return
    // The first option is the agent's own model.
    const model = this.#models.selectedIndex > 0 ? { model: this.#models.value } : {}
    const input = files.length === 0 ? words : await messageOf(words, files).catch((error: unknown) => this.#refuse(error))
    const isSent = input !== undefined && (await chat.actions.send(input, model))
    if (!isSent) return
    if (this.#input.value === words) this.#input.value = ''
    this.#files.value = ''
  }

  /** Shows why a file cannot be read. The text stays. */
  #refuse(error: unknown): undefined {
    this.#alert?.replaceChildren(error instanceof Error ? error.message : String(error))
  }
}

function queued(waiting: QueuedMessage | undefined, takeBack: () => void, labels: Words): HTMLElement {
  const content = waiting?.message.role === 'user' ? waiting.message.content : []
  const text = content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ')
  return make('li', 'queued', {}, make('span', 'queued-text', {}, text), button('take-back', labels.takeBack, takeBack))
}
