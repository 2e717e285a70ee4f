import { Agent, resumeAgent } from 'phi-core'
import { indexedDbSessionStore } from 'phi-core/browser'
import { scripted } from 'phi-core/testing'
import { chatPage } from '../recipes/servers/chat-page.ts'

const list = document.querySelector<HTMLElement>('#conversation')
const form = document.querySelector<HTMLFormElement>('#composer')
if (list === null || form === null) throw new Error('This program needs the elements of examples/browser/index.html.')

const model = scripted(() => ({ text: 'I am a scripted model, running in this tab.' }), { delayMs: 20 })
// After a reload or a crash, the conversation continues. With two tabs, the tab that sends a prompt owns it.
const store = indexedDbSessionStore({ onTakenOver: () => form.replaceChildren('This conversation continues in another tab.') })
const [latest] = await store.listIds()
const agent = latest === undefined ? new Agent({ model, session: store }) : await resumeAgent(store, latest, { model })
chatPage(agent, list)

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const text = String(new FormData(form).get('text') ?? '')
  form.reset()
  // During a run, a message steers it; otherwise it starts the next run.
  if (agent.isStreaming) agent.steer(text)
  else agent.send(text)
})
