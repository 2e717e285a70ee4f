// node examples/node/sessions.ts     (in this repository, after `npm run build`); no key needed, the model is scripted

import { scripted } from 'phi-core/providers/scripted'
import { serve } from 'phi-core/serve'
import { sessionsApp } from '../recipes/http-sessions.ts'

const app = sessionsApp(
  scripted(() => ({ text: 'Hello from Node.' })),
  [],
  process.env.ACCESS_TOKEN,
)
const { port, url } = await serve(app, { port: Number(process.env.PORT ?? 3000) })
console.log(JSON.stringify({ port, url }))
