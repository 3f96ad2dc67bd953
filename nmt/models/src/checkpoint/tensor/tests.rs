use super::*;
use proptest::prelude::*;

fn owned_bytes(bytes: &[u8]) -> OwnedBytes {
    OwnedBytes::new(View::new(&Bytes::copy_from(bytes), 0, bytes.len()).unwrap())
}

#[test]
fn f16_values_match_ieee_754() {
    for (half, value) in [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x7bff, 65504.0),
        (0x0400, 6.103_515_6e-5),
        (0x0001, 5.960_464_5e-8),
        (0x03ff, 6.097_555e-5),
        (0x3555, 0.333_251_95),
        (0x7c00, f32::INFINITY),
    ] {
        assert_eq!(f16_to_f32(half), value, "{half:#x}");
    }
    assert!(f16_to_f32(0x7e00).is_nan());
    assert_eq!(f16_to_f32(0x8000).to_bits(), 0x8000_0000);
}

#[test]
fn every_dtype_is_decoded() {
    let value = |element: DType, bytes: &[u8]| {
        let tensor =
            Tensor::new(vec![1], element, StorageOrder::RowMajor, owned_bytes(bytes)).unwrap();
        assert_eq!(bytes.len(), element.size());
        tensor.values()[0]
    };
    assert_eq!(value(DType::F32, &(-1.5f32).to_le_bytes()), -1.5);
    assert_eq!(value(DType::F64, &0.1f64.to_le_bytes()), 0.1);
    assert_eq!(value(DType::F16, &[0, 0xc2]), -3.0);
    assert_eq!(value(DType::Bf16, &[0x49, 0x40]), 3.140_625);
    assert_eq!(value(DType::I8, &[0x80]), -128.0);
    assert_eq!(value(DType::I16, &(-300i16).to_le_bytes()), -300.0);
    assert_eq!(value(DType::I32, &70_000i32.to_le_bytes()), 70_000.0);
    assert_eq!(value(DType::I64, &(-1i64).to_le_bytes()), -1.0);
}

#[test]
fn quantized_columns_are_divided_by_their_own_multipliers() {
    // The matrix [[1, 10], [2, -5.6], [3, 4.4]] times 2 and 10, each column contiguous: as an i8,
    // 200 is -56.
    let stored = [2, 4, 6, 100, 200u8, 44].map(|b| b as i8 as u8);
    let tensor =
        Tensor::new(vec![3, 2], DType::I8, StorageOrder::ColumnMajor, owned_bytes(&stored))
            .unwrap();
    let tensor = tensor.with_multipliers(QuantMultipliers::PerChannel([2.0, 10.0].into())).unwrap();
    assert_eq!(tensor.values(), [1.0, 10.0, 2.0, -5.6, 3.0, 4.4]);
    let turned = tensor.clone().transposed();
    assert_eq!(turned.values(), [1.0, 2.0, 3.0, 10.0, -5.6, 4.4]);
    assert_eq!(turned.slice_rows(1, 1).unwrap().values(), [10.0, -5.6, 4.4]);
    assert!(turned.slice_rows(1, 2).is_err());
    assert!(tensor.slice_rows(0, 1).is_err(), "it is column-major");
}

#[test]
fn quantized_tensors_are_scaled_and_repeated() {
    let bytes = [1u8, 2, 3, 4, 5, 6, 7, 8];
    let tensor =
        Tensor::new(vec![4, 2], DType::I8, StorageOrder::RowMajor, owned_bytes(&bytes)).unwrap();
    let each = QuantMultipliers::PerChannel([1.0, 2.0, 4.0, 0.5].into());
    let tensor = tensor.with_multipliers(each).unwrap();
    assert_eq!(tensor.values(), [1.0, 2.0, 1.5, 2.0, 1.25, 1.5, 14.0, 16.0]);
    let scaled = tensor.clone().scaled(2.0).unwrap();
    assert_eq!(scaled.values(), [2.0, 4.0, 3.0, 4.0, 2.5, 3.0, 28.0, 32.0]);
    let repeated = tensor.repeat_blocks(2, 2).unwrap();
    assert_eq!(repeated.shape(), [8, 2]);
    assert_eq!(repeated.values()[..8], [1.0, 2.0, 1.5, 2.0, 1.0, 2.0, 1.5, 2.0]);
    assert_eq!(repeated.values()[8..], [1.25, 1.5, 14.0, 16.0, 1.25, 1.5, 14.0, 16.0]);
    assert!(tensor.repeat_blocks(3, 2).is_err() && tensor.repeat_blocks(0, 2).is_err());
    assert_eq!(Tensor::zeros(3).values(), [0.0; 3]);
    assert_eq!(Tensor::zeros(2).scaled(3.0).unwrap().values(), [0.0; 2]);
}

#[test]
fn read_row_equals_values() {
    use DType::*;
    for element in [F32, F16, Bf16, F64, I8, I16, I32, I64] {
        let bytes: Vec<u8> = (0..15 * element.size()).map(|at| (at * 37 % 101) as u8).collect();
        let tensor =
            Tensor::new(vec![5, 3], element, StorageOrder::RowMajor, owned_bytes(&bytes)).unwrap();
        let each = QuantMultipliers::PerChannel([1.0, 2.0, 0.3, 4.0, 5.0].into());
        let multiplied = [QuantMultipliers::PerTensor(0.7), each]
            .map(|multipliers| tensor.clone().with_multipliers(multipliers).unwrap());
        for tensor in multiplied.iter().chain([&tensor]) {
            let mut rows = [0.0; 15];
            let each = rows.chunks_mut(3).enumerate();
            each.for_each(|(row, into)| tensor.read_row(row, into));
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&rows), bits(&tensor.values()), "{tensor:?}");
        }
    }
}

#[test]
fn mismatched_shapes_and_multipliers_are_rejected() {
    let new = |shape: &[usize]| {
        Tensor::new(shape.to_vec(), DType::F32, StorageOrder::RowMajor, owned_bytes(&[0; 24]))
    };
    assert!(new(&[2, 3]).is_ok());
    assert!(new(&[2, 2]).is_err());
    assert!(new(&[usize::MAX, 2]).is_err());
    for multipliers in
        [QuantMultipliers::PerTensor(0.0), QuantMultipliers::PerChannel([1.0; 3].into())]
    {
        assert!(new(&[2, 3]).unwrap().with_multipliers(multipliers).is_err());
    }
    assert!(new(&[6]).unwrap().reshaped(vec![1, 6]).is_ok());
    assert!(new(&[6]).unwrap().reshaped(vec![7]).is_err());
}

proptest! {
    #[test]
    fn transposing_twice_is_the_identity(rows in 1usize..40, columns in 1usize..40) {
        let bytes: Vec<u8> = (0..rows * columns).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let shape = vec![rows, columns];
        let tensor = Tensor::new(shape, DType::F32, StorageOrder::RowMajor, owned_bytes(&bytes)).unwrap();
        let turned = tensor.clone().transposed().values();
        for row in 0..rows {
            for column in 0..columns {
                prop_assert_eq!(turned[column * rows + row], (row * columns + column) as f32);
            }
        }
        prop_assert_eq!(tensor.clone().transposed().transposed().values(), tensor.values());
    }
}
