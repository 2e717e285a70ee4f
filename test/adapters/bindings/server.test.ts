import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { createComponent } from 'solid-js'
import { renderToString as renderSolid } from 'solid-js/web'
import { expect, it } from 'vitest'
import { createSSRApp, h } from 'vue'
import { renderToString as renderVue } from 'vue/server-renderer'
import { useAgent as inReact } from '../../../adapters/react/index.ts'
import { useAgent as inSolid } from '../../../adapters/solid/index.ts'
import { useAgent as inSvelte } from '../../../adapters/svelte/index.ts'
import { useAgent as inVue } from '../../../adapters/vue/index.ts'
import type { ChatAgent } from '../../../src/client.ts'
import { remoteSession } from '../../../src/client.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { ChatState } from '../../../src/store.ts'

const told = ({ status, messages }: ChatState): string => `${status}: ${messages.length} messages`

function InReact({ agent }: { agent: ChatAgent }) {
  return createElement('p', null, inReact(agent, told))
}

const pages: [string, (agent: ChatAgent) => string | Promise<string>][] = [
  ['React', (agent) => renderToString(createElement(InReact, { agent }))],
  [
    'Vue',
    (agent) =>
      renderVue(
        createSSRApp({
          setup() {
            const shown = inVue(agent, told)
            return () => h('p', shown.value)
          },
        }),
      ),
  ],
  ['Solid', (agent) => renderSolid(() => createComponent(() => ['<p>', inSolid(agent, told)(), '</p>'].join(''), {}))],
  [
    'Svelte',
    (agent) => {
      let shown = ''
      // As a page made on a server reads a store: it looks and leaves.
      inSvelte(agent, told).subscribe((value) => {
        shown = `<p>${value}</p>`
      })()
      return shown
    },
  ],
]

it.each(pages)("renders the agent's history on a server without any request: %s", async (_, render) => {
  const agent = new Agent({ model: scripted([{ text: 'ok' }]) })
  await agent.prompt('Hi.').result
  expect(await render(agent)).toContain('idle: 2 messages')
  const asked: string[] = []
  const fetch = async ({ url }: Request) => {
    asked.push(url)
    return new Response('', { status: 404 })
  }
  expect(await render(remoteSession({ url: 'http://localhost', sessionId: 's', fetch, logger: false }))).toContain('loading: 0 messages')
  await undefined
  expect(asked).toEqual([])
})

it('imports the web components on a server without a DOM', async () => {
  const { defineElements } = await import('../../../adapters/elements/index.ts')
  expect(defineElements()).toBeUndefined()
})
