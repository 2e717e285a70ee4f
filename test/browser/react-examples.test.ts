import { afterEach, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { defineTool, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { patient } from '../support/patience.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  document.body.innerHTML = ''
})

/** What a tab does when it loads the page: each query makes the module run again. */
async function load(path: string): Promise<void> {
  document.body.innerHTML = '<main></main>'
  await import(/* @vite-ignore */ `../../examples/${path}`)
}

const shows = (text: string | RegExp) => vi.waitFor(() => expect(document.body.innerText.replaceAll(/\s+/g, ' ')).toMatch(text), patient)

const find = (selector: string, text = ''): Promise<HTMLElement> =>
  vi.waitFor(() => {
    const found = [...document.querySelectorAll<HTMLElement>(selector)].find(({ textContent }) => textContent?.includes(text))
    if (found === undefined) throw new Error(`The page has no ${selector} ${text}.`)
    return found
  }, patient)

async function send(words: string): Promise<void> {
  const input = await find('input[name=text]')
  if (input instanceof HTMLInputElement) input.value = words
  const button = await find('button', 'Send')
  button.click()
}

it('examples/use-chat/page.tsx requests approval and restores the conversation after a reload', async () => {
  const parameters = { type: 'object', properties: {} }
  const weather = defineTool({ name: 'weather', description: 'Weather.', parameters, needsApproval: true, execute: () => 'rain' })
  const model = scripted([{ toolCalls: [{ name: 'weather', arguments: {} }] }, { text: 'Take a coat.' }])
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools: [weather] }) })
  const app = createAgentApp({ sessions, authorize: () => true })
  vi.stubGlobal('fetch', async (input: string | Request, init?: RequestInit) =>
    app.fetch(new Request(new URL(String(input), 'http://localhost'), init)),
  )
  await load('use-chat/page.tsx')
  await send('Do I need a coat?')
  await (await find('button', 'Allow')).click()
  await shows(/Do I need a coat\? weather: output-available Take a coat\./)
  await load('use-chat/page.tsx?reloaded')
  await shows(/Do I need a coat\? weather: output-available Take a coat\./)
  await sessions.close()
})

it('examples/browser/react/page.tsx stores the conversation in the browser', async () => {
  const start = async () => (await find('button', 'Start')).click()
  await load('browser/react/page.tsx')
  await start()
  await send('Hello?')
  await shows(/Hello\? I am a scripted model, running in this tab\./)
  await load('browser/react/page.tsx?reloaded')
  await start()
  await shows(/Hello\? I am a scripted model, running in this tab\./)
})
