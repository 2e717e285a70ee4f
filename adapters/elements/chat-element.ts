import type { Chat } from '../../src/store.ts'
import type { Words } from './phi-chat-options.ts'

/** What the elements need of the `<phi-chat>` that they stand in. */
export interface ChatOwner {
  readonly chat: Chat | undefined
  readonly said: Words
  /** Calls `look` at every change, also of the chat itself; returns how to stop. */
  watch(look: () => void): () => void
}

/** A page that is made on a server has no elements: importing this file there does nothing. */
export const ElementBase: typeof HTMLElement = globalThis.HTMLElement ?? class {}

/** An element that shows something of the `<phi-chat>` around it: in its shadow tree, or in one of its slots. */
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
    if (owner?.chat !== undefined) this.show(owner.chat, owner.said)
  }

  /** Shows what has changed. */
  protected abstract show(chat: Chat, said: Words): void
}

/** The `<phi-chat>` around an element. */
export function chatAround(element: Element): (Element & ChatOwner) | undefined {
  const near = element.closest('phi-chat')
  const root = element.getRootNode()
  const owner = near ?? (root instanceof ShadowRoot ? root.host : undefined)
  if (owner === undefined) return undefined
  return isOwner(owner) ? owner : chatAround(owner)
}

function isOwner(element: Element): element is Element & ChatOwner {
  return 'watch' in element && 'said' in element
}
