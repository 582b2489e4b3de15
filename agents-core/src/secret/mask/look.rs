//! Search for secrets in data of any type, in each text and number that would be written, without writing it.

use super::known::Known;
use serde::{
    Serialize, Serializer,
    ser::{
        self, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};
use std::fmt::Display;

impl Known {
    /// Returns `true` if the written form of `value` may hold a secret.
    pub(super) fn may_be_in<T: Serialize + ?Sized>(&self, value: &T) -> bool {
        value.serialize(Look(self)).is_err()
    }
}

#[derive(Clone, Copy)]
struct Look<'a>(&'a Known);

/// Sign that the value may hold a secret: its written form has to be searched.
#[derive(Debug, thiserror::Error)]
#[error("perhaps a secret")]
struct Perhaps;

impl ser::Error for Perhaps {
    fn custom<T: Display>(_: T) -> Self {
        Perhaps
    }
}

type Looked = Result<(), Perhaps>;

impl Look<'_> {
    fn at_text(self, text: &str) -> Looked {
        match self.0.is_in(text) {
            true => Err(Perhaps),
            false => Ok(()),
        }
    }

    fn at_number(self) -> Looked {
        match self.0.has_digits() {
            true => Err(Perhaps),
            false => Ok(()),
        }
    }
}

macro_rules! numbers {
    ($($method:ident($number:ty))*) => {$(
        fn $method(self, _: $number) -> Looked {
            self.at_number()
        }
    )*};
}

impl Serializer for Look<'_> {
    type Ok = ();
    type Error = Perhaps;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_f32(f32) serialize_f64(f64)
    }

    fn serialize_bool(self, _: bool) -> Looked {
        Ok(())
    }

    fn serialize_char(self, c: char) -> Looked {
        self.at_text(c.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Looked {
        self.at_text(text)
    }

    fn serialize_bytes(self, _: &[u8]) -> Looked {
        self.at_number()
    }

    fn serialize_none(self) -> Looked {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Looked {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Looked {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Looked {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Looked {
        self.at_text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Looked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Looked {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Perhaps> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Perhaps> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Perhaps> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Perhaps> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Perhaps> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Perhaps> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Perhaps> {
        Ok(self)
    }
}

/// Implements the traits of compound values by a search in each part.
macro_rules! parts {
    ($($of:ident: $method:ident)*) => {$(
        impl $of for Look<'_> {
            type Ok = ();
            type Error = Perhaps;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Looked {
                value.serialize(*self)
            }

            fn end(self) -> Looked {
                Ok(())
            }
        }
    )*};
}

parts! {
    SerializeSeq: serialize_element
    SerializeTuple: serialize_element
    SerializeTupleStruct: serialize_field
    SerializeTupleVariant: serialize_field
}

/// Implements the traits of compound values with field names. Field names are words of the format and are not
/// searched.
macro_rules! named_parts {
    ($($of:ident)*) => {$(
        impl $of for Look<'_> {
            type Ok = ();
            type Error = Perhaps;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Looked {
                value.serialize(*self)
            }

            fn end(self) -> Looked {
                Ok(())
            }
        }
    )*};
}

named_parts! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Look<'_> {
    type Ok = ();
    type Error = Perhaps;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Looked {
        key.serialize(*self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Looked {
        value.serialize(*self)
    }

    fn end(self) -> Looked {
        Ok(())
    }
}
