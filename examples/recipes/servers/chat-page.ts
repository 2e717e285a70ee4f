import type { Agent } from 'phi-core'
import { allMessages, createStore, restoredState } from 'phi-core/store'

/** Renders the conversation into `list`, at most once per frame. */
export function chatPage(agent: Agent, list: HTMLElement): void {
  const store = createStore(undefined, { schedule: requestAnimationFrame, initial: restoredState(agent.messages) })
  agent.subscribe(store.dispatch)
  const show = () => {
    const items = allMessages(store.getSnapshot()).map((message) => {
      const item = document.createElement('li')
      item.textContent = message.blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')
      return item
    })
    list.replaceChildren(...items)
  }
  show()
  store.subscribe(show)
}
