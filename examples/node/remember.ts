// node examples/node/remember.ts "And before that?"
// Before: `cp -r node_modules/phi-core/examples .`, or `npm run build` in a clone. It needs no key: the model is scripted.
// Run it again: the conversation continues, even after `kill -9` or a power cut. It is stored in the directory SESSIONS, or ./sessions.
import { fileSessionStore } from 'phi-core/node'
import { scripted } from 'phi-core/testing'
import { answerInSession } from '../recipes/sessions/save-and-restore.ts'

const store = fileSessionStore(process.env.SESSIONS ?? 'sessions')
const model = scripted(({ messages }) => ({ text: `I have read ${messages.length} messages.` }))
console.log(await answerInSession(store, 'mine', model, process.argv[2] ?? 'Hello?'))
