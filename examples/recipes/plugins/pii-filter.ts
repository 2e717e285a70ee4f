import { definePlugin } from 'phi-core/loop'

const address = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g

/** Replaces email addresses in the model's text. It buffers each word until it is complete, so no part of an address appears. */
export const piiFilter = definePlugin({
  name: 'pii-filter',
  covers: 'tree',
  begin() {
    const held = new Map<string, string>()
    return {
      delta({ messageId, contentIndex, text, isLast, isCut }) {
        const block = `${messageId} ${contentIndex}`
        const words = (held.get(block) ?? '') + text
        const end = isLast && !isCut ? words.length : words.search(/\S*$/) // drops the incomplete word of an interrupted response
        held.set(block, words.slice(end))
        return words.slice(0, end).replace(address, '[address]')
      },
    }
  },
})
