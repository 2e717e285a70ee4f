import { type Chat, type ChatMessage, type ChatPart, messageOf } from '../../src/store.ts'
import { ChatElement } from './chat-element.ts'
import { make } from './dom.ts'
import type { Words } from './phi-chat-options.ts'

/** The element `<phi-message>`: the author and parts of one message. The `message` attribute is the message's id. */
export class PhiMessageElement extends ChatElement {
  #shown: ChatMessage | undefined
  #parts: readonly ChatPart[] = []
  #author: HTMLElement | undefined

  protected show(chat: Chat, labels: Words): void {
    const id = this.getAttribute('message') ?? ''
    const message = messageOf(chat.getSnapshot(), id)
    if (message === undefined || message === this.#shown) return
    this.#shown = message
    this.setAttribute('part', `message message-${message.role}`)
    this.setAttribute('status', message.status)
    if (this.#author === undefined) {
      this.#author = make('span', 'author', {}, message.role === 'user' ? labels.you : labels.model)
      this.replaceChildren(this.#author)
    }
    const { parts } = message
    for (const [index, part] of parts.entries()) {
      if (part !== this.#parts[index]) this.#showPart(id, part, index, labels)
    }
    while (this.children.length > parts.length + 1) this.lastElementChild?.remove()
    this.#parts = parts
  }

  #showPart(id: string, part: ChatPart, index: number, labels: Words): void {
    const shown = this.children[index + 1]
    const before = this.#parts[index]
    const isSameKind = shown !== undefined && before?.type === part.type
    if (isSameKind && part.type === 'text') write(shown, part.text)
    else if (isSameKind && part.type === 'thinking') write(shown.lastElementChild ?? shown, part.text)
    // `<phi-tool>` subscribes to its call by itself.
    if (isSameKind && (part.type === 'text' || part.type === 'thinking' || part.type === 'tool')) return
    const element = partElement(id, part, index, labels)
    if (shown === undefined) this.append(element)
    else shown.replaceWith(element)
  }
}

/** Updates an element's text. Appends if the text only grew. Model output is never HTML. */
function write(element: Element, text: string): void {
  const node = element.firstChild
  const before = node instanceof Text ? node.data : undefined
  if (node instanceof Text && before !== undefined && text.startsWith(before)) node.appendData(text.slice(before.length))
  else element.textContent = text
}

function partElement(id: string, part: ChatPart, index: number, labels: Words): HTMLElement {
  switch (part.type) {
    case 'text':
      return make('p', 'text', {}, part.text)
    case 'thinking':
      return make(
        'details',
        'thinking',
        {},
        make('summary', 'thinking-label', {}, labels.thinking),
        make('p', 'thinking-text', {}, part.text),
      )
    case 'tool': {
      const tool = document.createElement('phi-tool')
      tool.setAttribute('message', id)
      tool.setAttribute('index', String(index))
      return tool
    }
    case 'image':
      // An image URL is never loaded, because the request would reveal the reader to the host.
      if (part.data !== undefined) return make('img', 'image', { alt: '', src: `data:${part.mimeType};base64,${part.data}` })
  }
  return make('p', 'hidden', {}, `${part.type}: ${labels.hidden}`)
}
