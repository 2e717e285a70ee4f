// ANTHROPIC_API_KEY=… node examples/node/hello.ts     (in this repository, after `npm run build`)
// #region call
import { ask } from '../hello.ts'

await ask('What is 2 + 3?', { apiKey: process.env.ANTHROPIC_API_KEY ?? '' }, (text) => process.stdout.write(text))
// #endregion call
