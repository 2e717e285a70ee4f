/**
 * `make` with a memory: the value of an object is made once and dropped with the object. What is remembered must follow from the
 * object alone, and the object must not change afterwards (finished messages and tool definitions do not).
 *
 * A request body is the concatenation of such pieces, so a turn encodes only what is new.
 */
export function perObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) {
      value = make(key)
      known.set(key, value)
    }
    return value
  }
}
