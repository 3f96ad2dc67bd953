//! Python's pickles, restricted to what a file of tensors needs.
//!
//! A pickle is a program, and Python runs whatever its author wrote. This reader knows the opcodes
//! that build numbers, texts, tuples, lists and dictionaries, and the few names that PyTorch writes
//! for tensors; any other name is an error. Nothing is called. Objects are in one table and refer
//! to each other by number, so neither cycles nor depth matter. Each opcode adds one object at
//! most, so memory is bounded by the number of opcodes.

use std::collections::HashMap;
use std::ops::Range;

use super::torch_names::{QUANTIZATION_CONSTANTS, STORAGE_KINDS, StorageKind};

/// The maximum number of opcodes of a pickle; a model of ten thousand tensors needs about a third
/// of that.
const MAX_OPCODES: usize = 1_000_000;
/// The maximum number of pairs copied from lists to dictionaries. It is limited because a pickle
/// may copy the same list again and again.
const MAX_COPIED_PAIRS: usize = 1_000_000;
/// The maximum number of dimensions of a tensor.
const MAX_SIDES: usize = 16;

/// A value. An object that a pickle uses in several places is one object here too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float,
    /// A text: the offsets of its first byte and of its end in the bytes that were read.
    Text(usize, usize),
    /// The index of an object in the table of objects.
    Object(usize),
}

/// An object that a value refers to.
#[derive(Debug)]
pub enum Object {
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Name(Name),
    Storage(Storage),
    Tensor(TensorRecord),
    /// A tensor of integers with scales, which no reader of this crate needs.
    QuantizedTensor,
}

/// The Python names that are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    RebuildQuantizedTensor,
    /// A type or a scheme of quantised tensors.
    QuantizationConstant,
    StorageKind(StorageKind),
}

/// The memory of one or more tensors, by its key in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    pub kind: StorageKind,
    pub key: Range<usize>,
    /// The number of elements.
    pub len: usize,
}

/// A tensor: a view of a storage, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorRecord {
    pub storage: Storage,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<usize>,
}

/// The objects that a pickle has built.
#[derive(Debug)]
pub struct Unpickled<'a> {
    bytes: &'a [u8],
    objects: Vec<Object>,
    pub root: Value,
    /// The offset of the first byte after the pickle.
    pub end: usize,
}

impl Unpickled<'_> {
    /// Returns the object of a value.
    pub fn object(&self, value: Value) -> Option<&Object> {
        match value {
            Value::Object(index) => self.objects.get(index),
            _ => None,
        }
    }

    /// Returns the text of a value.
    pub fn text(&self, value: Value) -> Option<&str> {
        match value {
            Value::Text(start, end) => std::str::from_utf8(self.bytes.get(start..end)?).ok(),
            _ => None,
        }
    }

    /// Returns the values of a tuple or a list.
    pub fn items(&self, value: Value) -> Option<&[Value]> {
        match self.object(value)? {
            Object::Tuple(items) | Object::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the storages of all tensors.
    pub fn storages(&self) -> impl Iterator<Item = &Storage> {
        self.objects.iter().filter_map(|object| match object {
            Object::Storage(storage) => Some(storage),
            _ => None,
        })
    }

    /// Returns a range of the bytes that were read.
    pub fn slice(&self, range: Range<usize>) -> Option<&[u8]> {
        self.bytes.get(range)
    }

    /// Returns the value that a dictionary has for `key`.
    pub fn entry(&self, value: Value, key: &str) -> Option<Value> {
        let Object::Dict(entries) = self.object(value)? else { return None };
        entries.iter().find(|(name, _)| self.text(*name) == Some(key)).map(|(_, value)| *value)
    }
}

/// Runs the pickle in `bytes` that begins at `start`.
///
/// # Errors
/// If the pickle is damaged or unsupported; the message gives the opcode's offset and the reason.
pub fn unpickle(bytes: &[u8], start: usize) -> Result<Unpickled<'_>, String> {
    let mut machine = Machine {
        bytes,
        at: start,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        objects: Vec::new(),
        copied_pairs: 0,
    };
    for _ in 0..MAX_OPCODES {
        let opcode_at = machine.at;
        match machine
            .step()
            .map_err(|reason| format!("byte {opcode_at} of the pickle: {reason}"))?
        {
            None => {}
            Some(root) => {
                let Machine { objects, at, .. } = machine;
                return Ok(Unpickled { bytes, objects, root, end: at });
            }
        }
    }
    Err(format!("the pickle has more than {MAX_OPCODES} opcodes, which no model needs"))
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value>,
    /// The heights of the stack at marks.
    marks: Vec<usize>,
    memo: HashMap<u64, Value>,
    objects: Vec<Object>,
    copied_pairs: usize,
}

impl<'a> Machine<'a> {
    /// Runs an opcode. After the last opcode, returns the value of the pickle.
    fn step(&mut self) -> Result<Option<Value>, String> {
        let opcode = self.take(1)?[0];
        match opcode {
            0x80 => {
                let version = self.take(1)?[0];
                if version > 5 {
                    return Err(format!("protocol {version} is not supported, only 0 to 5"));
                }
            }
            0x95 => {
                self.take(8)?;
            }
            b'.' => return self.pop().map(Some),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => {
                self.pop()?;
            }
            b'1' => {
                self.pop_to_mark()?;
            }
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'N' => self.stack.push(Value::None),
            0x88 | 0x89 => self.stack.push(Value::Bool(opcode == 0x88)),
            b'J' => {
                let number = i32::from_le_bytes(self.array()?);
                self.stack.push(Value::Int(number.into()));
            }
            b'K' => {
                let number = self.take(1)?[0];
                self.stack.push(Value::Int(number.into()));
            }
            b'M' => {
                let number = u16::from_le_bytes(self.array()?);
                self.stack.push(Value::Int(number.into()));
            }
            0x8a => {
                let length = usize::from(self.take(1)?[0]);
                let number = long(self.take(length)?)?;
                self.stack.push(Value::Int(number));
            }
            b'G' => {
                self.take(8)?;
                self.stack.push(Value::Float);
            }
            b'X' | b'T' | b'B' => {
                let length = u32::from_le_bytes(self.array()?);
                self.push_text(u64::from(length))?;
            }
            0x8c | b'U' | b'C' => {
                let length = self.take(1)?[0];
                self.push_text(length.into())?;
            }
            0x8d | 0x8e => {
                let length = u64::from_le_bytes(self.array()?);
                self.push_text(length)?;
            }
            b')' => self.push_object(Object::Tuple(Vec::new())),
            b't' | 0x85..=0x87 => {
                let items = match opcode {
                    b't' => self.pop_to_mark()?,
                    _ => self.pop_many(usize::from(opcode - 0x84))?,
                };
                self.push_object(Object::Tuple(items));
            }
            b']' => self.push_object(Object::List(Vec::new())),
            b'l' => {
                let items = self.pop_to_mark()?;
                self.push_object(Object::List(items));
            }
            b'a' | b'e' => {
                let items = if opcode == b'a' { self.pop_many(1)? } else { self.pop_to_mark()? };
                match self.top_object()? {
                    Object::List(list) => list.extend(items),
                    _ => return Err("a value is appended to an object that is not a list".into()),
                }
            }
            b'}' => self.push_object(Object::Dict(Vec::new())),
            b'd' => {
                let items = self.pop_to_mark()?;
                let entries = pairs(&items)?;
                self.push_object(Object::Dict(entries));
            }
            b's' | b'u' => {
                let items = if opcode == b's' { self.pop_many(2)? } else { self.pop_to_mark()? };
                let entries = pairs(&items)?;
                match self.top_object()? {
                    Object::Dict(dict) => dict.extend(entries),
                    _ => return Err("an item is set in an object that is not a dictionary".into()),
                }
            }
            b'q' => {
                let index = self.take(1)?[0];
                self.remember(index.into())?;
            }
            b'r' => {
                let index = u32::from_le_bytes(self.array()?);
                self.remember(index.into())?;
            }
            0x94 => self.remember(self.memo.len() as u64)?,
            b'h' => {
                let index = self.take(1)?[0];
                self.recall(index.into())?;
            }
            b'j' => {
                let index = u32::from_le_bytes(self.array()?);
                self.recall(index.into())?;
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push_name(module, name)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (module, name) = (self.text(module)?, self.text(name)?);
                self.push_name(module, name)?;
            }
            b'R' | 0x81 => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                self.call(function, arguments)?;
            }
            // The state of a dictionary of weights has only the versions of its modules.
            b'b' => {
                self.pop()?;
                if !matches!(self.top_object()?, Object::Dict(_)) {
                    return Err("a state is set in an object that is not a dictionary".into());
                }
            }
            b'Q' => {
                let id = self.pop()?;
                self.open_storage(id)?;
            }
            other => return Err(format!("unexpected opcode 0x{other:02x} in a file of weights")),
        }
        Ok(None)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length);
        let taken =
            end.and_then(|end| self.bytes.get(self.at..end)).ok_or("the file is truncated")?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn line(&mut self) -> Result<&'a [u8], String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or("the file is truncated")?;
        self.at += length + 1;
        Ok(&rest[..length])
    }

    fn push_text(&mut self, length: u64) -> Result<(), String> {
        let start = self.at;
        self.take(usize::try_from(length).map_err(|_| "the file is truncated")?)?;
        self.stack.push(Value::Text(start, self.at));
        Ok(())
    }

    fn push_object(&mut self, object: Object) {
        self.stack.push(Value::Object(self.objects.len()));
        self.objects.push(object);
    }

    fn push_name(&mut self, module: &[u8], name: &[u8]) -> Result<(), String> {
        let found = match (module, name) {
            (b"collections", b"OrderedDict") => Some(Name::OrderedDict),
            (b"torch._utils", b"_rebuild_tensor_v2" | b"_rebuild_tensor") => {
                Some(Name::RebuildTensor)
            }
            (b"torch._utils", b"_rebuild_parameter") => Some(Name::RebuildParameter),
            (b"torch._utils", b"_rebuild_qtensor") => Some(Name::RebuildQuantizedTensor),
            (b"torch", name) if QUANTIZATION_CONSTANTS.contains(&name) => {
                Some(Name::QuantizationConstant)
            }
            (b"torch", name) => {
                let kind = STORAGE_KINDS.iter().find(|kind| kind.name.as_bytes() == name);
                kind.map(|kind| Name::StorageKind(*kind))
            }
            _ => None,
        };
        let found = found.ok_or_else(|| {
            let [module, name] = [module, name].map(|text| {
                let text = &text[..text.len().min(100)];
                String::from_utf8_lossy(text).escape_debug().to_string()
            });
            format!(
                "it uses {module}.{name}, which tensors do not need and which is not executed; if \
                 you trust the file, save its state_dict alone, as safetensors"
            )
        })?;
        self.push_object(Object::Name(found));
        Ok(())
    }

    /// Takes the top of the stack. Fails if there is nothing above the last mark.
    fn pop(&mut self) -> Result<Value, String> {
        let bottom = self.marks.last().copied().unwrap_or(0);
        let value = if self.stack.len() > bottom { self.stack.pop() } else { None };
        value.ok_or_else(|| "the stack is empty".into())
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<Value>, String> {
        let bottom = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() < bottom + count {
            return Err("the stack is empty".into());
        }
        Ok(self.stack.split_off(self.stack.len() - count))
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Value>, String> {
        let mark = self.marks.pop().ok_or("a mark is missing")?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn top(&self) -> Result<Value, String> {
        self.stack.last().copied().ok_or_else(|| "the stack is empty".into())
    }

    fn top_object(&mut self) -> Result<&mut Object, String> {
        let object = match self.top()? {
            Value::Object(index) => self.objects.get_mut(index),
            _ => None,
        };
        object.ok_or_else(|| "expected a container".into())
    }

    fn remember(&mut self, index: u64) -> Result<(), String> {
        let value = self.top()?;
        self.memo.insert(index, value);
        Ok(())
    }

    fn recall(&mut self, index: u64) -> Result<(), String> {
        let value =
            self.memo.get(&index).ok_or_else(|| format!("object {index} was not stored"))?;
        self.stack.push(*value);
        Ok(())
    }

    fn object(&self, value: Value) -> Option<&Object> {
        match value {
            Value::Object(index) => self.objects.get(index),
            _ => None,
        }
    }

    /// Returns the text of a module or of a name.
    fn text(&self, value: Value) -> Result<&'a [u8], String> {
        match value {
            Value::Text(start, end) => Ok(&self.bytes[start..end]),
            _ => Err("expected a text as a name".into()),
        }
    }

    fn items(&self, value: Value) -> Result<&[Value], String> {
        match self.object(value) {
            Some(Object::Tuple(items) | Object::List(items)) => Ok(items),
            _ => Err("expected a tuple".into()),
        }
    }

    /// Returns the shape or the strides of a tensor.
    fn sizes(&self, value: Value) -> Result<Vec<usize>, String> {
        match self.items(value)? {
            sizes if sizes.len() > MAX_SIDES => {
                Err(format!("a tensor of {} dimensions is not supported", sizes.len()))
            }
            sizes => sizes.iter().map(|&size| count(size)).collect(),
        }
    }

    /// Pushes the object that calling a supported name would give.
    fn call(&mut self, function: Value, arguments: Value) -> Result<(), String> {
        let Some(&Object::Name(name)) = self.object(function) else {
            return Err("the called object is not a function".into());
        };
        let arguments = self.items(arguments)?;
        let made = match name {
            Name::OrderedDict => {
                let pairs = match arguments {
                    [] => &[],
                    [pairs] => self.items(*pairs)?,
                    _ => return Err("an OrderedDict has several arguments".into()),
                };

                let copied = self.copied_pairs + pairs.len();
                if copied > MAX_COPIED_PAIRS {
                    return Err("its dictionaries have too many items".into());
                }
                let entries = pairs.iter().map(|pair| match self.items(*pair)? {
                    [key, value] => Ok((*key, *value)),
                    _ => Err("expected pairs in an OrderedDict".to_owned()),
                });
                let entries = entries.collect::<Result<_, _>>()?;
                self.copied_pairs = copied;
                Object::Dict(entries)
            }
            Name::RebuildTensor => {
                let [storage, offset, shape, strides, ..] = arguments else {
                    return Err("a tensor needs a storage, an offset, a shape and strides".into());
                };
                let Some(Object::Storage(storage)) = self.object(*storage) else {
                    return Err("expected a storage for a tensor".into());
                };

                Object::Tensor(TensorRecord {
                    storage: storage.clone(),
                    offset: count(*offset)?,
                    shape: self.sizes(*shape)?,
                    strides: self.sizes(*strides)?,
                })
            }
            Name::RebuildParameter => match arguments.first().and_then(|&one| self.object(one)) {
                Some(Object::Tensor(tensor)) => Object::Tensor(tensor.clone()),
                _ => return Err("expected a tensor for a parameter".into()),
            },
            Name::RebuildQuantizedTensor => Object::QuantizedTensor,
            Name::QuantizationConstant => {
                return Err("a type of quantised tensors is called".into());
            }
            Name::StorageKind(kind) => return Err(format!("{} is called", kind.name)),
        };
        self.push_object(made);
        Ok(())
    }

    /// Pushes the storage of `('storage', kind, key, device, length)`.
    fn open_storage(&mut self, id: Value) -> Result<(), String> {
        fn wrong() -> String {
            "expected the persistent id of a storage".to_owned()
        }
        let (tag, kind, key, len) = match self.items(id)? {
            [tag, kind, key, _, len] | [tag, kind, key, _, len, Value::None] => {
                (*tag, *kind, *key, *len)
            }
            _ => return Err(wrong()),
        };
        let Some(&Object::Name(Name::StorageKind(kind))) = self.object(kind) else {
            return Err(wrong());
        };
        let (Value::Text(tag, tag_end), Value::Text(start, end)) = (tag, key) else {
            return Err(wrong());
        };
        if &self.bytes[tag..tag_end] != b"storage" {
            return Err(wrong());
        }
        let storage = Storage { kind, key: start..end, len: count(len)? };
        self.push_object(Object::Storage(storage));
        Ok(())
    }
}

/// Returns the number in a value that is a size, an offset or a stride.
fn count(value: Value) -> Result<usize, String> {
    match value {
        Value::Int(number) => {
            usize::try_from(number).map_err(|_| format!("{number} is not a size"))
        }
        _ => Err("expected a size".into()),
    }
}

/// Returns the value of a little-endian number in two's complement, of at most 8 bytes.
fn long(bytes: &[u8]) -> Result<i64, String> {
    if bytes.len() > 8 {
        return Err(format!("unsupported number of {} bytes", bytes.len()));
    }
    let is_negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut number = if is_negative { [0xff; 8] } else { [0; 8] };
    number[..bytes.len()].copy_from_slice(bytes);
    Ok(i64::from_le_bytes(number))
}

fn pairs(items: &[Value]) -> Result<Vec<(Value, Value)>, String> {
    let (pairs, rest) = items.as_chunks::<2>();
    match rest {
        [] => Ok(pairs.iter().map(|&[key, value]| (key, value)).collect()),
        _ => Err("a dictionary has a key without a value".into()),
    }
}
