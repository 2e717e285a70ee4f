/** Does things one after the other, in the order in which they are asked for. */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve()

  /** What `act` gives, once everything before it is done, however that ended. */
  do<Value>(act: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => undefined)
    return done
  }
}
