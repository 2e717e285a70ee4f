// node examples/node/sessions.ts     (in this repository, after `npm run build`); no key needed, the model is scripted
import { createServer } from 'node:http'
import { toNodeHandler } from 'phi-core/adapters/node'
import { scripted } from 'phi-core/providers/scripted'
import { sessionsApp } from '../recipes/http-sessions.ts'

const app = sessionsApp(
  scripted(() => ({ text: 'Hello from Node.' })),
  [],
  process.env.ACCESS_TOKEN,
)
const server = createServer(toNodeHandler(app.fetch))
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log(JSON.stringify(server.address())))
