import { Agent } from 'phi-core'
import { type AnnotatedRequest, diffTurnRequests } from 'phi-core/context'
import { scripted } from 'phi-core/testing'

export async function captured(write: (line: string) => void): Promise<void> {
  // A scripted model: no request is sent.
  const model = scripted([{ text: 'Nine.' }, { text: 'Ten.' }, { text: 'Eleven.' }])
  const agent = new Agent({ model, systemPrompt: 'It is 9:00.', captureTurnRequests: true })
  let previous: AnnotatedRequest | undefined
  agent.subscribe((event) => {
    if (event.type !== 'turnRequest') return
    const { request } = event
    write(request.provenance.map((origin) => (origin.kind === 'loopTurn' ? origin.role : origin.kind)).join(', '))
    const { commonMessages, firstChange } = diffTurnRequests(previous ?? request, request)
    if (firstChange === undefined) write(`  unchanged messages: ${commonMessages}`)
    else write(`  cached prefix broken by ${firstChange.part}: "${firstChange.before}" is now "${firstChange.after}"`)
    previous = request
  })
  await agent.prompt('What time is it?').result
  await agent.prompt('And in an hour?').result
  agent.configure({ systemPrompt: 'It is 10:00.' })
  await agent.prompt('And then?').result
}
