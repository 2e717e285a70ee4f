// What every app here answers with; scripts/frameworks.ts puts it beside their routes.
import { Agent } from 'phi-core'
import { runResponse } from 'phi-core/http'
import { scripted } from 'phi-core/testing'

const gates = []
let left = 0

/** `wait` says `one `, and the rest once somebody says `open`; `left` says how many clients went away before that. */
export async function answer(request) {
  const { prompt, protocol } = await request.json()
  if (prompt === 'open') for (const open of gates.splice(0)) open()
  let pieces = 0
  const gate = () => (prompt === 'wait' && pieces++ > 0 ? new Promise((open) => gates.push(open)) : Promise.resolve())
  const text = prompt === 'wait' ? ['one ', 'two'] : [`left ${left}`]
  const run = new Agent({ model: scripted([{ text }], { gate }) }).prompt(prompt)
  run.result.then(({ status }) => {
    if (status === 'aborted') left += 1
  })
  return runResponse(run, { protocol })
}
