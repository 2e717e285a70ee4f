import { Agent, defineTool, type JsonObject, type Model, type PendingInput } from 'phi-core'
import { z } from 'zod'

/** Asks the user for the number of guests before it books. */
const bookTable = defineTool({
  name: 'book_table',
  description: 'Books a table.',
  parameters: z.object({ place: z.string() }),
  execute: async ({ place }, { requestInput }) => {
    const schema = { type: 'object', properties: { guests: { type: 'integer', minimum: 1 } }, required: ['guests'] }
    const answer = await requestInput?.({ message: `How many guests at ${place}?`, schema })
    return answer?.action === 'accept' ? `Booked for ${answer.content?.guests}.` : 'Nothing was booked.'
  },
})

/** `fillIn` shows the form and returns the values that the user entered. */
export async function bookWithQuestions(
  model: Model,
  prompt: string,
  fillIn: (question: PendingInput) => JsonObject | undefined,
): Promise<string> {
  const run = new Agent({ model, tools: [bookTable] }).prompt(prompt)
  for await (const event of run) {
    if (event.type !== 'inputRequested') continue
    const content = fillIn(event)
    run.answer(event, content === undefined ? { action: 'decline' } : { action: 'accept', content })
  }
  return run.text()
}
