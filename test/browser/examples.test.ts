import { expect, it } from 'vitest'

const page = '<ol id="conversation"></ol><form id="composer"><input name="text"><button>Send</button></form>'
const answer = 'I am a scripted model, running in this tab.'
const items = (): string[] => [...document.querySelectorAll('li')].map((item) => item.textContent ?? '')

/** What a tab does when the page is loaded: each query makes the module run anew. */
async function load(query: string): Promise<void> {
  document.body.innerHTML = page
  const path = `../../examples/browser/main.ts${query}`
  await import(/* @vite-ignore */ path)
}

function say(text: string): void {
  const input = document.querySelector('input')
  if (input !== null) input.value = text
  document.querySelector('form')?.requestSubmit()
}

it('examples/browser/main.ts shows the conversation, also after a reload', async () => {
  await load('')
  say('Hello?')
  await expect.poll(items).toEqual(['Hello?', answer])
  await load('?reloaded')
  expect(items()).toEqual(['Hello?', answer])
  say('Still there?')
  await expect.poll(items).toEqual(['Hello?', answer, 'Still there?', answer])
})
