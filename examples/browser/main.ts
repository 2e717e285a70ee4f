import { Agent } from 'phi-core'
import { scripted } from 'phi-core/providers/scripted'
import { chatPage } from '../recipes/chat-page.ts'

const list = document.querySelector<HTMLElement>('#conversation')
const form = document.querySelector<HTMLFormElement>('#composer')
if (list === null || form === null) throw new Error('This program needs the elements of examples/browser/index.html.')

const model = scripted(() => ({ text: 'I am a scripted model, running in this tab.' }), { delayMs: 20 })
const agent = new Agent({ model })
chatPage(agent, list)

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const text = String(new FormData(form).get('text') ?? '')
  form.reset()
  // While a run is on, what is said steers it; else it starts the next one.
  if (agent.isStreaming) agent.steer(text)
  else agent.prompt(text)
})
