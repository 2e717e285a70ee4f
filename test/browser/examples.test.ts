import { expect, it } from 'vitest'

it('examples/browser/main.ts shows the conversation', async () => {
  document.body.innerHTML = '<ol id="conversation"></ol><form id="composer"><input name="text"><button>Send</button></form>'
  await import('../../examples/browser/main.ts')
  const input = document.querySelector('input')
  if (input !== null) input.value = 'Hello?'
  document.querySelector('form')?.requestSubmit()
  const items = (): string[] => [...document.querySelectorAll('li')].map((item) => item.textContent ?? '')
  await expect.poll(items).toEqual(['Hello?', 'I am a scripted model, running in this tab.'])
})
