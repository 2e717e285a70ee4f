// The agent that is killed once its service has searched: argv directory of the store, service, address. Says when the answer is there.
import { writeSync } from 'node:fs'
import { fileSessionStore } from '../../../../adapters/node/index.ts'
import { Agent } from '../../../../src/index.ts'
import { lookUp, type SearchingService, searchingModel } from './search-service.ts'

const [directory = '', service = '', baseUrl = ''] = process.argv.slice(2)
const model = searchingModel(service as SearchingService, baseUrl) // the test names one
const agent = new Agent({ model, tools: [lookUp], session: fileSessionStore(directory), sessionId: 's1' })
const { status, error } = await agent.prompt('How high is Damavand?').result
writeSync(1, `${error?.message ?? status}\n`)
// It has closed nothing when it is killed.
setInterval(() => undefined, 60_000)
