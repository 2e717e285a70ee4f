'use client'
import { Agent } from 'phi-core'
import { scripted } from 'phi-core/testing'

export function Client() {
  const agent = new Agent({ model: scripted([{ text: 'hi' }]) })
  return <p>{`in the page: ${agent.messages.length} messages`}</p>
}
