import { expect, it } from 'vitest'
import html from '../../examples/chat/index.html?raw'

/** What a tab does when the page is loaded: each query makes the modules run anew. */
async function load(query: string): Promise<void> {
  document.body.innerHTML = new DOMParser().parseFromString(html, 'text/html').body.innerHTML
  const path = `../../examples/chat/main.ts${query}`
  await import(/* @vite-ignore */ path)
}

const text = (selector: string) => document.querySelector(selector)?.textContent ?? ''
const field = () => document.querySelector('textarea') as HTMLTextAreaElement
const press = (label: string, within: ParentNode = document) =>
  [...within.querySelectorAll('button')].find((button) => button.textContent === label)?.click()
const rows = () => [...document.querySelectorAll('#conversations button')].map((row) => row.textContent)

function say(words: string): void {
  field().value = words
  field().dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
}

it('examples/chat: streams, requests approval, continues in the background and keeps the draft', async () => {
  await load('')
  await expect.poll(() => field().disabled).toBe(false)
  say('Hello?')
  await expect.poll(() => text('#transcript')).toContain('You said: “Hello?”. Ask me to note something.')
  expect(field().value).toBe('')

  // A question waits in its conversation while another one is shown.
  say('Please note the <b>date</b>.')
  await expect.poll(() => text('#status')).toBe('A call waits for you.')
  press('New')
  await expect.poll(() => text('#transcript')).toBe('')
  await expect.poll(rows).toEqual(['Hello? (running)'])
  say('Another one.')
  await expect.poll(() => text('#transcript')).toContain('You said: “Another one.”')

  // The question is there again after a reload of the page, and is answered once.
  await load('?reloaded')
  await expect.poll(() => rows().length).toBe(2)
  await expect.poll(() => text('#transcript')).not.toBe('')
  document.querySelectorAll<HTMLElement>('#conversations button')[rows().findIndex((row) => row?.startsWith('Hello?'))]?.click()
  await expect.poll(() => text('[data-status=pendingApproval]')).toContain('write_note')
  press('Allow')
  await expect.poll(() => text('#transcript')).toContain('It is written down.')
  expect(document.querySelectorAll('#transcript b')).toHaveLength(0)
  expect(text('#transcript').match(/1 notes/g)).toHaveLength(1)

  // Of clicks that come fast the last one counts, and a double click opens nothing twice.
  const click = (title: string) => {
    document.querySelectorAll<HTMLElement>('#conversations button')[rows().findIndex((row) => row?.startsWith(title))]?.click()
  }
  press('New')
  await expect.poll(() => text('#transcript')).toBe('')
  for (const title of ['Another one.', 'Another one.', 'Hello?', 'Hello?']) click(title)
  await expect.poll(() => text('#transcript')).toContain('It is written down.')
  say('Please note that, too.')
  await expect.poll(() => text('#status')).toBe('A call waits for you.')
  press('New')
  await expect.poll(rows).toContain('Hello? (running)')

  // Enter of an input method sends nothing.
  field().value = 'にほん'
  field().dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))
  expect(field().value).toBe('にほん')
})
