import { createElement, useSyncExternalStore } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { createStore, type Store } from '../../src/store.ts'

function Count({ store }: { store: Store }) {
  const { messages } = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getServerSnapshot)
  return createElement('p', null, `${messages.length} messages`)
}

it('renders the initial state on the server and in the first client render', async () => {
  const agent = new Agent({ model: scripted([{ text: 'ok' }]), messages: [{ role: 'user', content: 'before' }] })
  const store = createStore(agent)
  const page = renderToString(createElement(Count, { store }))
  expect(page).toBe('<p>1 messages</p>')
  await agent.prompt('go').result
  await Promise.resolve()
  expect(store.getSnapshot().messages).toHaveLength(3)
  expect(renderToString(createElement(Count, { store }))).toBe(page)
  expect(store.getServerSnapshot()).toBe(store.getServerSnapshot())
})
