import type { Chat } from '../../src/store.ts'
import type { PhiChat, Words } from './phi-chat-options.ts'

/** The interface of `<phi-chat>` that its inner elements use. */
export interface ChatOwner {
  readonly chat: Chat | undefined
  readonly labels: Words
  readonly apps: PhiChat['apps']
  /** Calls `look` after every change of the state or the chat. Returns a function that unsubscribes. */
  watch(look: () => void): () => void
}

/** The base class `HTMLElement`, or an empty class during server rendering, so that the import does not throw there. */
export const ElementBase: typeof HTMLElement = globalThis.HTMLElement ?? class {}

/** An element that renders a part of the enclosing `<phi-chat>`, from its shadow tree or from a slot. */
export abstract class ChatElement extends ElementBase {
  #stop: (() => void) | undefined
  #owner: ChatOwner | undefined

  connectedCallback(): void {
    const owner = chatAround(this)
    this.#owner = owner
    this.#stop = owner?.watch(() => this.#look())
    this.#look()
  }

  disconnectedCallback(): void {
    this.#stop?.()
  }

  #look(): void {
    const owner = this.#owner
    if (owner?.chat !== undefined) this.show(owner.chat, owner.labels)
  }

  /** Renders the current state of the chat. */
  protected abstract show(chat: Chat, labels: Words): void
}

/** Returns the enclosing `<phi-chat>`, also across shadow roots. */
export function chatAround(element: Element): (Element & ChatOwner) | undefined {
  const near = element.closest('phi-chat')
  const root = element.getRootNode()
  const owner = near ?? (root instanceof ShadowRoot ? root.host : undefined)
  if (owner === undefined) return undefined
  return isOwner(owner) ? owner : chatAround(owner)
}

function isOwner(element: Element): element is Element & ChatOwner {
  return 'watch' in element && 'labels' in element
}
