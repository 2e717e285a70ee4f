import { Agent, type Model } from 'phi-core'
import { fallback, rotateKeys, route, withMiddleware } from 'phi-core/models'

/** Sends short conversations to a small model and others to a large one. If these fail, another provider takes over. */
export function reliable({ small, large, elsewhere, keys }: { small: Model; large: Model; elsewhere: Model; keys: string[] }): Agent {
  const several = rotateKeys(large, keys)
  const sized = route(({ messages }) => (JSON.stringify(messages).length < 2000 ? small : several), { like: small })
  const logged = withMiddleware(sized, {
    response: (message) => {
      console.log(`${message.provider}/${message.model}: ${message.usage.output} tokens`)
      return message
    },
  })
  return new Agent({ model: fallback([logged, elsewhere]) })
}
