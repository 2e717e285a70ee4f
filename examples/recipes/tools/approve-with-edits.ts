import { Agent, type JsonObject, type Model } from 'phi-core'
import { sendMail } from './tool-with-approval.ts'

/** `edit` shows the arguments to the user and returns what the user made of them. */
export async function runWithEdits(model: Model, prompt: string, edit: (args: JsonObject) => Promise<JsonObject>): Promise<string> {
  const run = new Agent({ model, tools: [sendMail] }).prompt(prompt)
  for await (const event of run) {
    if (event.type !== 'approvalRequested') continue
    let problem: unknown
    do {
      // If the arguments do not match the schema, the call still waits.
      problem = await run.approve(event, { arguments: await edit(event.args), by: 'ada@example.com' }).catch((error: unknown) => error)
    } while (problem !== undefined)
  }
  return run.text()
}
