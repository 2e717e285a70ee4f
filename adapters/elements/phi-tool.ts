import { isJsonObject } from '../../src/contract/json.ts'
import type { JsonObject } from '../../src/index.ts'
import type { Chat, ToolPart } from '../../src/store.ts'
import { ChatElement, chatAround } from './chat-element.ts'
import { focusComposer } from './composer-field.ts'
import { button, make } from './dom.ts'
import type { Words } from './phi-chat-options.ts'
import { callOf } from './tool-call.ts'

/** The element `<phi-tool>`: input, progress, output and approval of one tool call. */
export class PhiToolElement extends ChatElement {
  #shown: ToolPart | undefined

  protected show(chat: Chat, labels: Words): void {
    const call = callOf(this, chat)
    if (call === undefined || call === this.#shown) return
    this.#shown = call
    const { toolName, status, input, inputText, output, progress, reason, approval, question } = call
    this.setAttribute('part', `tool tool-${status}`)
    this.setAttribute('status', status)
    this.setAttribute('role', 'group')
    this.setAttribute('aria-label', toolName)
    const asked = this.querySelector('phi-approval')
    const parts: (Element | undefined)[] = [
      make('span', 'tool-name', {}, toolName),
      make('span', 'tool-status', {}, status),
      make('pre', 'input', {}, input === undefined ? inputText : JSON.stringify(input, null, 2)),
      progress === undefined ? undefined : make('p', 'progress', {}, progress),
      output === undefined ? undefined : make('pre', 'output', {}, typeof output === 'string' ? output : JSON.stringify(output, null, 2)),
      reason === undefined ? undefined : make('p', 'reason', {}, reason),
      question === undefined ? undefined : make('p', 'question', {}, question.message),
      question === undefined ? undefined : button('decline', labels.decline, () => chat.actions.answer(question, { action: 'decline' })),
      approval === undefined ? undefined : (asked ?? this.#partOf('phi-approval')),
    ]
    // The app stays where it is: browsers reload a frame that moves.
    const app = this.querySelector('phi-mcp-app')
    for (const child of [...this.children]) if (child !== app) child.remove()
    this.prepend(...parts.filter((part) => part !== undefined))
    if (app === null && chatAround(this)?.apps?.(toolName) !== undefined) this.append(this.#partOf('phi-mcp-app'))
  }

  #partOf(name: string): Element {
    const element = document.createElement(name)
    for (const each of ['message', 'index']) element.setAttribute(each, this.getAttribute(each) ?? '')
    return element
  }
}

/** The element `<phi-approval>`: the buttons that approve or deny a tool call, and a field for edited arguments. */
export class PhiApprovalElement extends ChatElement {
  protected show(chat: Chat, labels: Words): void {
    const approval = callOf(this, chat)?.approval
    if (approval === undefined || this.childElementCount > 0) return
    this.setAttribute('part', 'approval')
    const field = make('textarea', 'arguments', { 'aria-label': labels.arguments, spellcheck: 'false' })
    field.addEventListener('input', () => field.setCustomValidity(''))
    const edit = button('edit', labels.edit, () => {
      if (field.isConnected) field.remove()
      else {
        field.value = JSON.stringify(approval.args, null, 2)
        field.setCustomValidity('')
        this.prepend(field)
        field.focus()
      }
      edit.ariaExpanded = String(field.isConnected)
    })
    edit.ariaExpanded = 'false'
    const allow = button('allow', labels.allow, () => {
      const args = field.isConnected ? parseObject(field.value) : undefined
      if (field.isConnected && args === undefined) {
        field.setCustomValidity(labels.notAnObject)
        field.reportValidity()
        return
      }
      void chat.actions.approve(approval, args && { arguments: args })
      focusComposer(this)
    })
    const refuse = button('refuse', labels.refuse, () => {
      void chat.actions.deny(approval)
      focusComposer(this)
    })
    this.append(allow, edit, refuse)
  }
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
